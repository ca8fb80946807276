// Place: what texts and the literature say of the point under the crosshair.

import { ask } from "./api.js";
import { bars, contributions, tellStudies } from "./answers.js";
import { regionAt } from "./atlas.js";
import { $, capital, fill, make, mm, percent, settle, times } from "./dom.js";
import { naming, reading } from "./form.js";
import { fileOf } from "./maps.js";
import { roving } from "./roving.js";

const N_TERMS = 8;
const N_ASKED = 12;
const N_STUDIES = 5;
const PAUSE_MS = 40; // a drag moves more often
const FARTHEST_MM = 200;

let at = [0, 0, 0];
let texts = [];
let isTold = true; // whether the tab tells of this place
let asking = null;

export const place = () => at;

// The crosshair has moved: name the place; what is known of it is asked once its tab is open, and the crosshair rests.
export function movedTo(point, those) {
  at = point;
  texts = those;
  isTold = false;
  asking?.abort(); // what is under way tells of another place
  ["x", "y", "z"].forEach((axis, i) => { if (document.activeElement !== $(axis)) $(axis).value = point[i]; });
  $("x").setCustomValidity("");
  tellHere();
  $("place-where").textContent = `${mm(point)} mm`;
  $("place-words").textContent = ""; // those of another place
  tellIfOpen();
}

export function tellHere() {
  $("here").textContent = capital(regionAt(at)?.name ?? "");
}

export function tellIfOpen() {
  if (isTold || $("panel-place").hidden) return;
  $("panel-place").setAttribute("aria-busy", "true");
  tellSoon();
}

const tellSoon = settle(() => tellPlace(), PAUSE_MS);

async function tellPlace() {
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  const asked = texts;
  try {
    if (!(await fileOf("mean")).nearest(at)) throw new Error("Outside of the brain.");
    const [decoded, ...found] = await Promise.all([
      ask("decode", { points: [at], n: N_ASKED, ...naming(), regions: asked.length ? 0 : 1 }, signal),
      ...asked.map(([, text]) => ask("encode", { text, ...reading(), ...naming(), at, regions: 0 }, signal)),
    ]);
    if (!signal.aborted) tell(asked, found.map(({ place: here }) => here), decoded);
  } catch (error) {
    if (error.name !== "AbortError") tellNowhere(error.message);
  } finally {
    if (!signal.aborted) $("panel-place").setAttribute("aria-busy", "false");
  }
}

function tell(asked, places, { terms, studies, regions }) {
  isTold = true;
  const first = places[0] ?? regions[0];
  $("place-words").textContent = !places.length ? `Near ${first?.name ?? "no region of the atlas"}.` : `${capital(first.name ?? "no region of the atlas")}: ${places.map(wordsOf(asked)).join("; ")}.`;
  const columns = places.map(({ why }, i) => column(asked[i][0], contributions(why, N_TERMS)));
  const spoken = bars(terms.map(({ term, score }) => [term, score]), N_TERMS, "match");
  fill($("reasons"), ...columns, column("In the literature", spoken, "decoded"));
  roving($("reasons"), ".bar-row");
  $("speaking-title").hidden = !studies.length;
  tellStudies($("speaking"), studies.slice(0, N_STUDIES), terms);
}

const wordsOf = (asked) => ({ ratio, density }, i) =>
  `${times(ratio)} the average, ${percent(1000 * density)} of peaks per cm³ ${asked.length > 1 ? `for the ${["first", "second"][i]}` : "for this text"}`;

const column = (title, rows, id = "why") => make("div", {}, make("h3", {}, title), make("ul", { class: "bars", id }, ...rows));

function tellNowhere(message) {
  $("place-words").textContent = message;
  for (const id of ["reasons", "speaking"]) fill($(id));
  $("speaking-title").hidden = true;
}

// Numbers that were typed for the crosshair, or null with words that say what was expected.
export function typedPlace() {
  const point = ["x", "y", "z"].map((axis) => Number($(axis).value.trim().replace("−", "-").replace(",", ".") || NaN));
  if (point.every((value) => Number.isFinite(value) && Math.abs(value) <= FARTHEST_MM)) return point;
  $("here").textContent = `Expected three numbers in mm, from −${FARTHEST_MM} to ${FARTHEST_MM}`;
  return null;
}
