// Place: what texts and the literature say of the point under the crosshair.

import { ask } from "./api.js";
import { bars, contributions, tellStudies } from "./answers.js";
import { $, capital, fill, make, mm, percent, settle, times } from "./dom.js";
import { naming, reading } from "./form.js";
import { roving } from "./roving.js";

const N_TERMS = 8;
const N_ASKED = 12;
const N_STUDIES = 5;
const PAUSE_MS = 40; // a drag moves more often
const FARTHEST_MM = 200;

let at = [0, 0, 0];
let asking = null;

export const place = () => at;

// The crosshair has moved: tell what is there, once it rests.
export function movedTo(point, texts) {
  at = point;
  asking?.abort(); // what is under way tells of another place
  ["x", "y", "z"].forEach((axis, i) => { if (document.activeElement !== $(axis)) $(axis).value = point[i]; });
  $("x").setCustomValidity("");
  $("here").textContent = "";
  $("place-where").textContent = `${mm(point)} mm`;
  $("place-words").textContent = ""; // those of another place
  $("panel-place").setAttribute("aria-busy", "true");
  tellSoon(texts);
}

const tellSoon = settle((texts) => tellPlace(texts), PAUSE_MS);

async function tellPlace(texts) {
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  try {
    const [decoded, ...found] = await Promise.all([
      ask("decode", { points: [at], n: N_ASKED, ...naming(), regions: texts.length ? 0 : 1 }, signal),
      ...texts.map(([, text]) => ask("encode", { text, ...reading(), ...naming(), at, regions: 0 }, signal)),
    ]);
    if (!signal.aborted) tell(texts, found.map(({ place: here }) => here), decoded);
  } catch (error) {
    if (error.name !== "AbortError") tellNowhere(error.message);
  } finally {
    if (!signal.aborted) $("panel-place").setAttribute("aria-busy", "false");
  }
}

function tell(texts, places, { terms, studies, regions }) {
  const first = places[0] ?? regions[0];
  $("here").textContent = first?.name ? capital(first.name) : "";
  $("place-words").textContent = !places.length ? `Near ${first?.name ?? "no region of the atlas"}.` : `${capital(first.name ?? "no region of the atlas")}: ${places.map(wordsOf(texts)).join("; ")}.`;
  const columns = places.map(({ why }, i) => column(texts[i][0], contributions(why, N_TERMS)));
  const spoken = bars(terms.map(({ term, score }) => [term, score]), N_TERMS);
  fill($("reasons"), ...columns, column("In the literature", spoken, "decoded"));
  roving($("reasons"), ".bar-row");
  $("speaking-title").hidden = !studies.length;
  tellStudies($("speaking"), studies.slice(0, N_STUDIES), terms);
}

const wordsOf = (texts) => ({ ratio, density }, i) =>
  `${times(ratio)} the average, ${percent(1000 * density)} of activations per cm³ ${texts.length > 1 ? `for the ${["first", "second"][i]}` : "for this text"}`;

const column = (title, rows, id = "why") => make("div", {}, make("h3", {}, title), make("ul", { class: "bars", id }, ...rows));

function tellNowhere(message) {
  $("here").textContent = "";
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
