// Maps: images of queries from the server, the newest of which are kept, and the files that all of them need.

import { post } from "./api.js";
import { readNifti } from "./nifti.js";
import { massOf, raisedPlace, ratioOf } from "./volume.js";

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
  if (kind === "encode") {
    const { image, ...asked } = query;
    const density = await densityOf(asked, signal);
    return image === "density" ? density : image === "mass" ? massOf(density) : ratioOf(density, await fileOf("mean"));
  }
  const key = keyOf(kind, query);
  return keep(key, kept.get(key) ?? (await load(kind, query, signal)));
}

async function load(kind, query, signal) {
  const answer = await post(`${kind}.nii.gz`, query, signal);
  return readNifti(await answer.blob());
}

// The density of a text, of which all its images are made.
async function densityOf(asked, signal) {
  if (!kept.has(keyOf("encode", asked))) await encodeWithMap({ ...asked, regions: 0 }, asked, signal);
  return keep(keyOf("encode", asked), kept.get(keyOf("encode", asked)));
}

// What the page shows of a text, or of its sentences, as the server sends it.
export async function askForm(query, signal) {
  const form = await (await post("encode.form", query, signal)).formData();
  return { answer: JSON.parse(await form.get("answer").text()), map: form.get("map") };
}

// The summary of a text; its density comes with it, so that the text is read once. `asked` is what the map depends on.
export async function encodeWithMap(query, asked, signal) {
  const { answer, map } = await askForm(query, signal);
  keep(keyOf("encode", asked), await readNifti(map));
  return { ...whole(answer), map };
}

// An answer as the others are: it holds what says the same once, with all spans, and leaves out the mentions that say
// no more than their term.
function whole(answer) {
  const rules = answer.rules.flatMap(({ at, ...rule }) => at.map((where) => ({ ...rule, where })));
  const ruled = (name) => rules.filter(({ structures }) => structures.some(({ term }) => term === name)).map(({ where }) => where);
  const told = answer.mentions.flatMap(({ at, ...mention }) => at.map(([where, side, negation]) => ({ status: "affirmed", ...mention, where, side_where: side, negation_where: negation })));
  const known = new Set([...rules, ...told].map(({ where }) => String(where)));
  const plain = new Map(); // the mentions of the other spans, each of the longest term there
  for (const { term, where } of answer.terms) {
    for (const span of where) {
      const key = String(span);
      if (!known.has(key) && term.length > (plain.get(key)?.term.length ?? 0)) plain.set(key, { term, where: span, status: "affirmed" });
    }
  }
  const findings = answer.findings.map(({ places, ...finding }) => ({
    ...finding,
    places: places.map(({ at, ...place }) => ({ ...place, wheres: at.map(([where]) => where).filter(Boolean), share: at.reduce((sum, [, share = 0]) => sum + share, 0) })),
  }));
  const terms = answer.terms.map((term) => (term.implied ? { ...term, where: ruled(term.term) } : term));
  return { ...answer, terms, mentions: [...told, ...plain.values()], rules, findings };
}

// Where a text is shown first: in its first region, if that is coloured there.
export const firstPlace = async (asked, regions) => raisedPlace(await densityOf(asked), await fileOf("mean"), regions[0]?.at);

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
