// Stage: which map is shown, under a caption that always names it. Of several that are asked for,
// the last one wins: answers that come late are dropped.

import { regionAt } from "./atlas.js";
import { loadCortex } from "./cortex.js";
import { $, capital, chosen, fill, settle } from "./dom.js";
import { naming } from "./form.js";
import { densityWords, legend, valueWords } from "./legend.js";
import { fileOf, loadTemplates, mapOf } from "./maps.js";
import { busy, trouble } from "./status.js";
import { drawSurface } from "./surface.js";
import { Viewer, showTip } from "./viewer.js";

export const hooks = { onMove: () => {}, onView: () => {}, onPick: () => {} };
export const viewer = new Viewer($("stage"), { onMove: (at) => hooks.onMove(at), onView: () => hooks.onView(), onHover: tellHover, onPick: () => hooks.onPick(), surface: drawSurface, loadCortex });

const GLANCE_MS = 120; // of pointing at something, before its map is asked for
const UNCUT = ["mass", "significant"]; // images that have no threshold
let latest = 0;
let own = null; // the map of the query itself, to which every glance returns
let shown = null;
let pinned = null;
let nothing = ""; // the caption where there is no map

export const nowShown = () => shown;

// A view has words (its caption), parts ([kind, query] of each map, or volumes), an image, and what its numbers are.
async function volumesOf({ parts, volumes }, signal) {
  return volumes ?? Promise.all(parts.map(([kind, query]) => mapOf(kind, query, signal)));
}

function apply(view, volumes) {
  shown = view;
  $("tip").hidden = true; // it tells of another map
  delete $("stage").dataset.empty;
  const labels = view.labels ?? [];
  const scale = viewer.set({ maps: volumes.map((volume, i) => ({ volume, label: labels[i] })), image: view.image, colours: view.colours ?? null, raisedOnly: view.image === "log_ratio" && !view.what });
  findNumbers(view);
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
    noOutline();
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
  $("tip").hidden = true;
  $("stage").dataset.empty = "";
  own = pinned = shown = null;
  viewer.set({ maps: [] });
  noOutline();
  $("caption").textContent = words;
  $("back").hidden = $("open-term").hidden = true;
  fill($("legend"));
}

export function bringIntoSight() {
  const { top, bottom } = $("stage").getBoundingClientRect();
  if (top < 0 || bottom > window.innerHeight) $("stage").scrollIntoView({ behavior: "smooth", block: "center" });
}

// ---- outlines of regions

let outlined = null; // the region that was chosen, to which every glance returns

// Move into a region of the atlas, and draw its outline.
export async function showRegion(row, at) {
  goTo(at);
  outlined = row;
  await outline(row);
}

// Outline a region while it is pointed at.
export async function outline(row) {
  const asked = latest;
  wanted = row;
  const volume = await mapOf("region", { region: row.region, ...naming() }).catch(() => null);
  if (asked !== latest || wanted !== row || !volume) return;
  viewer.set({ outline: { volume } });
  $("stage").dataset.outlined = row.region;
}

let wanted = null;

export function endOutline() {
  if (outlined) outline(outlined);
  else noOutline();
}

function noOutline() {
  wanted = outlined = null;
  viewer.set({ outline: null });
  delete $("stage").dataset.outlined;
}

// ---- what is under the pointer

let numbers = null; // of texts: the densities of what is shown, and the mean map

async function findNumbers({ parts }) {
  numbers = null;
  if (!parts?.every(([kind]) => kind === "encode")) return;
  const densities = parts.map(([kind, query]) => mapOf(kind, { ...query, image: "density" }));
  const [mean, ...found] = await Promise.all([fileOf("mean"), ...densities]).catch(() => []);
  if (mean && shown?.parts === parts) numbers = { mean, densities: found };
}

// The values of a map that is shown at a point, in words.
function valuesOf(i, point) {
  const own = valueWords(viewer.scene.maps[i].volume.at(point), shown.image, shown.what);
  if (!numbers) return [own];
  return [...(shown.image === "mass" ? [own] : []), ...densityWords(numbers.densities[i], numbers.mean, point)];
}

// Those of all maps; of two, each is named.
export function valuesAt(point) {
  const { maps } = viewer.scene;
  const named = (i, [first, ...others]) => [maps.length > 1 ? `${["first", "second"][i]} ${first}` : first, ...others];
  return shown ? maps.flatMap((_, i) => named(i, valuesOf(i, point))) : [];
}

function tellHover(point, left, top, map = 0) {
  const region = point && regionAt(point);
  const words = point ? [region && capital(region.name), ...(shown ? valuesOf(map, point) : [])] : [];
  showTip($("tip"), words.filter(Boolean), left, top);
}

export function goTo(place) {
  viewer.moveTo(place);
  bringIntoSight();
}

export const begin = (urgent) => loadTemplates(urgent, (template, name) => {
  viewer.set({ template, view: chosen("view") });
  $("stage").dataset.template = name;
});
