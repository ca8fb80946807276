// Maps: images of queries from the server, the newest of which are kept.

import { post } from "./api.js";
import { readNifti } from "./nifti.js";

const KEPT = 16;
const kept = new Map();

export async function mapOf(kind, query, signal) {
  const key = `${kind} ${JSON.stringify(query)}`;
  const volume = kept.get(key) ?? (await load(kind, query, signal));
  kept.delete(key); // the newest is last
  kept.set(key, volume);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value);
  return volume;
}

async function load(kind, query, signal) {
  const answer = await post(`${kind}.nii.gz`, query, signal);
  return readNifti(await answer.blob());
}

const HEAD_START_MS = 1500;
const pause = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });

// The template: a coarse one that is here soon, then the fine one. On a slow line both would hold up what is
// `urgent`, the first map: it gets a head start, and the fine one waits for it.
export async function loadTemplates(urgent, onLoad) {
  for (const name of ["mni152-coarse", "mni152"]) {
    await (name === "mni152" ? urgent : Promise.race([urgent, pause(HEAD_START_MS)]));
    const answer = await fetch(`static/${name}.nii.gz`);
    if (answer.ok) onLoad(await readNifti(await answer.blob()), name);
  }
}
