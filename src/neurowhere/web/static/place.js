// Place: what the answer that is shown and the literature say of the point under the crosshair.

import { ask } from "./api.js";
import { bars, tellStudies } from "./answers.js";
import { loadAtlas, regionAt } from "./atlas.js";
import { $, capital, fill, make, mm, settle } from "./dom.js";
import { naming } from "./form.js";
import { fileOf } from "./maps.js";
import { roving } from "./roving.js";
import { valuesAt } from "./stage.js";

const N_TERMS = 8;
const N_ASKED = 12;
const N_STUDIES = 5;
const PAUSE_MS = 40; // a drag moves more often
const FARTHEST_MM = 200;

let at = [0, 0, 0];
let reasons = () => []; // of a region, by its label: titles, and terms with what they add
let isTold = true; // whether the tab tells of this place
let asking = null;

export const place = () => at;

// The crosshair has moved: name the place; what is known of it is asked once its tab is open, and the crosshair rests.
export function movedTo(point, those) {
  at = point;
  reasons = those ?? (() => []);
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
  try {
    if (!(await fileOf("mean")).nearest(at)) throw new Error("Outside of the brain.");
    await loadAtlas();
    const decoded = await ask("decode", { points: [at], n: N_ASKED, ...naming(), regions: 0 }, signal);
    if (!signal.aborted) tell(decoded);
  } catch (error) {
    if (error.name !== "AbortError") tellNowhere(error.message);
  } finally {
    if (!signal.aborted) $("panel-place").setAttribute("aria-busy", "false");
  }
}

function tell({ terms, studies }) {
  isTold = true;
  const region = regionAt(at);
  $("place-words").textContent = [capital(region?.name ?? "no region of the atlas"), ...valuesAt(at)].join(" · ");
  const columns = reasons(region?.region ?? "").map(([title, why]) => column(title, why.length ? bars(why, N_TERMS) : [make("li", { class: "soft" }, "No word changes it much")]));
  const spoken = bars(terms.map(({ term, score }) => [term, score]), N_TERMS, "match");
  fill($("reasons"), ...columns, column("In the literature", spoken, "decoded"));
  roving($("reasons"), ".bar-row");
  $("speaking-title").hidden = !studies.length;
  tellStudies($("speaking"), studies.slice(0, N_STUDIES), terms);
}

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
