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

// The template: a coarse one that is here soon, then the fine one.
export async function loadTemplates(onLoad) {
  for (const name of ["mni152-coarse", "mni152"]) {
    const answer = await fetch(`static/${name}.nii.gz`);
    if (answer.ok) onLoad(await readNifti(await answer.blob()), name);
  }
}
