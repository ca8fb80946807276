// Maps: images of queries from the server, the newest of which are kept, and the files that all of them need.

import { post } from "./api.js";
import { readNifti } from "./nifti.js";
import { Volume } from "./volume.js";

const KEPT = 16;
const kept = new Map();
const keyOf = (kind, query) => `${kind} ${JSON.stringify(query)}`;

function keep(key, volume) {
  kept.delete(key); // the newest is last
  kept.set(key, volume);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  return volume;
}

export async function mapOf(kind, query, signal) {
  if (kind === "encode" && query.image === "log_ratio") {
    const [density, mean] = await Promise.all([mapOf(kind, { ...query, image: "density" }, signal), fileOf("mean")]);
    return ratioOf(density, mean);
  }
  const key = keyOf(kind, query);
  return keep(key, kept.get(key) ?? (await load(kind, query, signal)));
}

async function load(kind, query, signal) {
  const answer = await post(`${kind}.nii.gz`, query, signal);
  return readNifti(await answer.blob());
}

// The summary of a text; its density comes with it, so that the text is read once. `asked` is what the map depends on.
export async function encodeWithMap(query, asked, signal) {
  const form = await (await post("encode.form", query, signal)).formData();
  keep(keyOf("encode", { ...asked, image: "density" }), await readNifti(form.get("map")));
  return JSON.parse(await form.get("answer").text());
}

const ratios = new WeakMap(); // by density

// The log ratio of a density to the mean map, both mixed with the uniform density, as the library computes it.
function ratioOf(density, mean) {
  if (!ratios.has(density)) {
    const { uniform } = mean.comment;
    const values = density.values.map((value, i) => (mean.values[i] ? Math.log((value + uniform) / (mean.values[i] + uniform)) : 0));
    ratios.set(density, new Volume([density.nx, density.ny, density.nz], density.affine, values));
  }
  return ratios.get(density);
}

const MOST_RAISED = 0.97; // share of the brain that is raised less

// The densest place of those that a text raises most, in mm: it is coloured in either image. Null where there is none.
export async function raisedPlace(asked) {
  const [density, ratio] = await Promise.all(["density", "log_ratio"].map((image) => mapOf("encode", { ...asked, image })));
  const least = ratio.quantile(MOST_RAISED);
  const values = density.values.map((value, i) => (ratio.values[i] >= least && least > 0 ? value : 0));
  const found = new Volume([density.nx, density.ny, density.nz], density.affine, values);
  return found.magnitudes.length ? found.peak : null;
}

// ---- files, whose addresses in the page have their hashes

export const fileAddress = (name) => document.querySelector(`link[data-name="${name}"]`).href;

const files = new Map();

export function fileOf(name) {
  if (!files.has(name)) files.set(name, loadFile(name).catch((error) => { files.delete(name); throw error; }));
  return files.get(name);
}

async function loadFile(name) {
  const answer = await fetch(fileAddress(name));
  if (!answer.ok) throw new Error("A file of the page could not be loaded.");
  return readNifti(await answer.blob());
}

const HEAD_START_MS = 1500;
const pause = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });

// The template: a coarse one that is here soon, then the fine one. On a slow line both would hold up what is
// `urgent`, the first map: it gets a head start, and the fine one waits for it.
export async function loadTemplates(urgent, onLoad) {
  for (const name of ["mni152-coarse", "mni152"]) {
    await (name === "mni152" ? urgent : Promise.race([urgent, pause(HEAD_START_MS)]));
    onLoad(await fileOf(name), name);
  }
}
