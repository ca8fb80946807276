// Stage: which map is shown, under a caption that always names it. Of several that are asked for,
// the last one wins: answers that come late are dropped.

import { $, chosen, fill, settle } from "./dom.js";
import { naming } from "./form.js";
import { legend } from "./legend.js";
import { mapOf, loadTemplates } from "./maps.js";
import { busy, trouble } from "./status.js";
import { Viewer } from "./viewer.js";

export const hooks = { onMove: () => {}, onView: () => {} };
export const viewer = new Viewer($("stage"), { onMove: (at) => hooks.onMove(at), onView: () => hooks.onView() });

const GLANCE_MS = 120; // of pointing at something, before its map is asked for
const UNCUT = ["mass", "significant"]; // images that have no threshold
let latest = 0;
let own = null; // the map of the query itself, to which every glance returns
let shown = null;
let pinned = null;
let nothing = ""; // the caption where there is no map

export const nowShown = () => shown;
export const ownView = () => own;

// A view has words (its caption), parts ([kind, query] of each map, or volumes), an image, and what its numbers are.
async function volumesOf({ parts, volumes }, signal) {
  return volumes ?? Promise.all(parts.map(([kind, query]) => mapOf(kind, query, signal)));
}

function apply(view, volumes) {
  shown = view;
  delete $("stage").dataset.empty;
  const labels = view.labels ?? [];
  const scale = viewer.set({ maps: volumes.map((volume, i) => ({ volume, label: labels[i] })), image: view.image });
  $("caption").textContent = view.words;
  $("back").hidden = view === own;
  $("open-term").hidden = !view.term;
  $("hidden").disabled = UNCUT.includes(view.image);
  drawLegend(scale);
}

export function drawLegend(scale = viewer.scene.scale) {
  const negative = viewer.scene.maps.some(({ volume }) => volume.hasNegative);
  fill($("legend"), ...legend(scale, shown?.what, negative));
}

// Load the map of a query; what it gives is called to show it, once all else of the answer is there.
export async function prepare(view, signal) {
  const volumes = await volumesOf(view, signal);
  return () => {
    latest += 1;
    own = view;
    pinned = null;
    viewer.scene.outline = null;
    delete $("stage").dataset.outlined;
    apply(view, volumes);
  };
}

async function present(view) {
  latest += 1;
  const ticket = latest;
  try {
    busy(true);
    const volumes = await volumesOf(view);
    if (ticket === latest) apply(view, volumes);
  } catch (error) {
    if (ticket === latest) trouble(error);
  } finally {
    if (ticket === latest) busy(false);
  }
}

const presentSoon = settle((view) => view && present(view), GLANCE_MS);

// Show another map while something is pointed at.
export function glance(view) {
  presentSoon(view);
}

// Show another map until it is dismissed.
export function pin(view) {
  presentSoon(null);
  pinned = view;
  present(view);
  bringIntoSight();
}

// End a glance: back to what is pinned, or to the query's own map.
export function endGlance() {
  presentSoon(null);
  latest += 1; // what is still under way comes too late
  busy(false);
  const view = pinned ?? own;
  if (view && shown !== view) present(view);
  else if (!view && shown) clearStage(nothing); // there is no map to go back to
}

export function unpin() {
  pinned = null;
  endGlance();
}

export function clearStage(words) {
  latest += 1;
  nothing = words;
  $("stage").dataset.empty = "";
  own = pinned = shown = null;
  viewer.set({ maps: [], outline: null });
  delete $("stage").dataset.outlined;
  $("caption").textContent = words;
  $("back").hidden = $("open-term").hidden = true;
  fill($("legend"));
}

export function bringIntoSight() {
  const { top, bottom } = $("stage").getBoundingClientRect();
  if (top < 0 || bottom > window.innerHeight) $("stage").scrollIntoView({ behavior: "smooth", block: "center" });
}

// Move into a region of the atlas, and draw its outline.
export async function showRegion({ region, name }, at) {
  goTo(at);
  const asked = latest;
  const outline = await mapOf("region", { region, ...naming() }).catch(() => null);
  if (asked !== latest || !outline) return;
  viewer.set({ outline: { volume: outline, name } });
  $("stage").dataset.outlined = region;
}

export function goTo(place) {
  viewer.moveTo(place);
  bringIntoSight();
}

export const begin = (urgent) => loadTemplates(urgent, (template, name) => {
  viewer.set({ template, view: chosen("view") });
  $("stage").dataset.template = name;
});
