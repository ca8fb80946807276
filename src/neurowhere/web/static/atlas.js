// Atlas: which region is at a place.

import { naming } from "./form.js";
import { fileOf } from "./maps.js";

let labels = null; // of the atlas that is chosen

export async function loadAtlas() {
  labels = await fileOf(`atlas-${naming().atlas}`);
}

// The region at a place: its label and its name in words; null outside of all, or before the atlas is here.
export function regionAt(place) {
  const number = labels?.nearest(place);
  return number ? { region: labels.comment[number - 1][0], name: labels.comment[number - 1][1] } : null;
}
