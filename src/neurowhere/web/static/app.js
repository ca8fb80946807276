// The page: what is asked, what came back, and the wiring between the two.

import { ask, get, post } from "./api.js";
import { $, capital, choose, chosen, fill, make, mm, percent, settle, times } from "./dom.js";
import { marked } from "./reading.js";
import { asCurl, asPython, fromLink, saveBlob, saveTable, toLink } from "./share.js";
import { barRow, fillTable, placeButton, studyRow } from "./tables.js";
import { COLOURS, LEVELS, createPictures, createViewer } from "./viewer.js";

const EXAMPLES = {
  "Stroke report": "Acute left MCA infarct involving the insula and the inferior frontal gyrus, with non-fluent aphasia. No lesion in the thalamus or the hippocampus. Weakness of the right hand.",
  "Fear": "Conditioned fear activated the amygdala, the anterior insula and the dorsal anterior cingulate cortex.",
  "Reading": "Reading words compared with symbols recruited the left fusiform gyrus, the visual word form area.",
  "Parkinson’s": "Parkinson's disease patients off medication showed reduced activity in the putamen and the supplementary motor area.",
  "Working memory": "An n-back working memory task engaged the dorsolateral prefrontal and parietal cortex.",
};
const PAIR = ["speech production", "speech perception"];
const SUPPORT = {
  good: ["Well supported", "The model knows enough of these words to tell where they point."],
  weak: ["Weakly supported", "Few known words, or words that point nowhere in particular: read the map with care."],
  none: ["Not supported", "The text contains no term that the model knows, so this is the average map of all studies."],
};
const N_REGIONS = 18;
const N_UNKNOWN = 8;
const N_ALL = 1000;
const N_SHOWN = 12; // terms of a list
const N_OF_PLACE = 8; // terms of a list, for one place
const N_STUDIES = 5; // for one place

let result = null;
let running = null; // the controller of the request under way
let shown = null; // what the viewer shows: [kind, query]
let at = [0, 0, 0];
let viewer = createViewer($("stage"), moved, () => {
  viewer = createPictures($("stage"), moved);
  restyle();
  run();
});

// ---- what is asked

const isPair = () => chosen("mode") === "two";
const reading = () => ({ negation: $("negation").checked, laterality: $("laterality").checked });
const query = () => ({ text: $("text").value, ...(isPair() && { other: $("other").value }), ...reading() });
const kind = () => (isPair() ? "difference" : "encode");
const mapQuery = () => ({ ...query(), ...(isPair() ? {} : { image: chosen("image") }) });
const isEmpty = () => !$("text").value.trim() || (isPair() && !$("other").value.trim());

// Do the work that was asked for last; what it replaces is given up.
async function attempt(work) {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  busy(true);
  try {
    await work(signal);
    trouble(null);
    stale(false);
  } catch (error) {
    if (error.name === "AbortError") return;
    trouble(error);
    stale(true);
  } finally {
    if (!signal.aborted) busy(false);
  }
}

async function run() {
  if (isEmpty()) {
    running?.abort();
    busy(false);
    stale(true);
    return;
  }
  await attempt(async (signal) => {
    result = await asked(signal);
    tell(result);
    await showMap(signal);
    const first = (isPair() ? result.more : result.regions)[0];
    const peak = result.peaks?.[0]?.at ?? first?.at;
    if (peak && !signal.aborted) await viewer.moveTo(peak);
    say(first ? `Map ready. Strongest: ${first.name}, ${percent(first.probability)}.` : "Map ready.");
  });
}

async function asked(signal) {
  return ask(kind(), { ...query(), regions: N_REGIONS }, signal);
}

async function showMap(signal) {
  shown = [kind(), mapQuery()];
  drawLegend(await viewer.show(...shown, signal));
  caption(null);
}

// Show another map for as long as something is pointed at.
const glance = settle(async (name, words) => {
  try {
    const scale = await viewer.show(...(name ?? shown));
    caption(words);
    drawLegend(scale, Boolean(name) && name[0] === "term");
  } catch (error) {
    if (error.name !== "AbortError") trouble(error);
  }
}, 120);

function whilePointed(show) {
  const hide = () => glance(null, null);
  return { onmouseenter: show, onmouseleave: hide, onfocus: show, onblur: hide, onclick: show };
}

function pointing(term) {
  const show = () => glance(["term", { name: term }], `What the model knows about “${term}”`);
  const key = (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); show(); }
  };
  return { ...whilePointed(show), onkeydown: key };
}

// ---- what came back

function tell(answer) {
  if (isPair()) tellDistance(answer);
  else tellSupport(answer.support);
  tellReading(answer);
  tellRules(isPair() ? [] : answer.rules);
  tellUnknown(isPair() ? [] : answer.unknown);
  tellTerms(isPair() ? answer.difference.terms : answer.terms);
  if (isPair()) tellPair(answer);
  else tellRegions(answer);
  fill($("similar"), ...(answer.similar ?? []).map(studyRow));
  $("by-sentence").open = false;
}

function tellSupport({ level, terms }) {
  const [name, words] = SUPPORT[level];
  $("support").textContent = terms ? `${name} · ${terms} term${terms > 1 ? "s" : ""}` : name;
  $("support").dataset.level = level;
  $("support-words").textContent = words;
}

// Structures that an artery, a syndrome or a sign points to by a rule, not by what was learned.
function tellRules(rules) {
  const applied = rules.filter((rule) => rule.applied);
  const words = applied.map(({ name, structures }) =>
    `“${name}” points to ${structures.map(({ side, term }) => (side ? `${side} ${term}` : term)).join(", ")}`);
  $("rules").textContent = words.length ? `By rule: ${words.join("; ")}.` : "";
  $("rules").hidden = !words.length;
}

// Words that count for nothing, each with a button that puts a known name in its place.
function tellUnknown(unknown) {
  const items = unknown.slice(0, N_UNKNOWN).flatMap(({ word, suggestions: [first] }, i) => [
    i ? ", " : "Not known: ", word,
    ...(first ? [" (did you mean ", make("button", { type: "button", class: "place-link", onclick: () => correct(word, first) }, first), "?)"] : []),
  ]);
  fill($("unknown"), ...items);
  $("unknown").hidden = !items.length;
}

function correct(word, name) {
  $("text").value = $("text").value.replace(word, name);
  run();
}

function tellDistance({ distance, text, other }) {
  const weakest = ["none", "weak", "good"].find((level) => [text, other].some(({ support }) => support.level === level));
  $("support").textContent = `${percent(distance)} apart`;
  $("support").dataset.level = weakest;
  $("support-words").textContent = `The two maps differ in ${percent(distance)} of their mass. Warm: more for the first text; cold: more for the second.`;
}

function tellReading(answer) {
  if (isPair()) {
    fill($("reading"),
      make("p", {}, ...marked($("text").value, answer.text, pointing)),
      make("p", { class: "versus" }, "compared with"),
      make("p", {}, ...marked($("other").value, answer.other, pointing)));
  } else fill($("reading"), ...marked($("text").value, answer, pointing));
}

function tellTerms(terms) {
  const sorted = [...terms].sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution));
  fill($("terms"), ...contributions(sorted, N_SHOWN));
}

function contributions(terms, most) {
  const rows = bars(terms.map(({ term, contribution }) => [term, contribution]), most);
  return rows.length ? rows : [make("li", { class: "soft" }, "No known term")];
}

// The first of some terms over bars, which are as long as their values are to the strongest.
function bars(pairs, most) {
  const strongest = Math.max(1e-9, ...pairs.map(([, value]) => Math.abs(value)));
  return pairs.slice(0, most).map(([term, value]) => barRow(term, value / strongest, pointing(term)));
}

function tellRegions({ regions, peaks }) {
  const largest = regions[0]?.probability || 1;
  $("regions-note").textContent = "share of the map";
  fillTable($("regions"), ["Region", "Share", "vs average"], regions.map((row) => [
    placeButton(capital(row.name), row.at, goTo, row.region),
    make("span", { class: "meter", style: { "--share": row.probability / largest } }, percent(row.probability)),
    ratioCell(row.ratio),
  ]));
  fillTable($("peaks"), ["Place", "Region", "vs average"], peaks.map((row) => [
    placeButton(mm(row.at), row.at, goTo), capital(row.name ?? "–"), ratioCell(row.ratio),
  ]));
}

function tellPair({ more, less }) {
  const row = ({ name, at, region, probability, other }) => [
    placeButton(capital(name), at, goTo, region), percent(probability), percent(other),
  ];
  $("regions-note").textContent = "share of each map";
  fillTable($("regions"), ["Region", "First", "Second"], more.map(row));
  fillTable($("peaks"), ["Region", "First", "Second"], less.map(row));
}

const ratioCell = (ratio) =>
  make("span", { class: ratio === null || (ratio > 0.67 && ratio < 1.5) ? "soft" : ratio > 1 ? "up" : "down" }, times(ratio));

// ---- the place of the crosshair

function goTo(place) {
  viewer.moveTo(place);
  const { top } = $("stage").getBoundingClientRect();
  if (top < 0) $("stage").scrollIntoView({ behavior: "smooth", block: "start" });
}

function moved(place) {
  at = place;
  ["x", "y", "z"].forEach((axis, i) => { if (document.activeElement !== $(axis)) $(axis).value = place[i]; });
  $("here").textContent = "";
  $("place").setAttribute("aria-busy", String(Boolean(result)));
  tellPlace();
}

const tellPlace = settle(async () => {
  if (!result || isEmpty()) return;
  const there = at;
  $("place-where").textContent = `${mm(at)} mm`;
  try {
    const [{ place }, decoded] = await Promise.all([
      ask("encode", { text: $("text").value, ...reading(), at, regions: 0 }),
      ask("decode", { points: [at], n: N_SHOWN }),
    ]);
    if (there !== at) return; // the crosshair has gone on
    tellWhy(place);
    tellDecoded(decoded);
  } catch (error) {
    if (there === at) tellNowhere(error.message);
  } finally {
    if (there === at) $("place").setAttribute("aria-busy", "false");
  }
}, 180);

function tellWhy({ name, ratio, density, why }) {
  $("here").textContent = name ? capital(name) : "";
  $("place-words").textContent = `${capital(name ?? "in the brain")}: ${times(ratio)} the average, ${percent(1000 * density)} of activations per cm³ for this text.`;
  fill($("why"), ...contributions(why, N_OF_PLACE));
}

function tellDecoded({ terms, studies }) {
  fill($("decoded"), ...bars(terms.map(({ term, score }) => [term, score]), N_OF_PLACE));
  $("speaking-title").hidden = !studies.length;
  fill($("speaking"), ...studies.slice(0, N_STUDIES).map(studyRow));
}

function tellNowhere(message) {
  $("here").textContent = "";
  $("place-words").textContent = message;
  ["why", "decoded", "speaking"].forEach((id) => fill($(id)));
  $("speaking-title").hidden = true;
}

// ---- sentence by sentence

async function tellSentences() {
  if (!$("by-sentence").open || isPair() || isEmpty()) return;
  const text = Array.from($("text").value);
  try {
    const { sentences } = await ask("encode", { ...query(), regions: 0, sentences: true });
    fill($("sentences"), ...sentences.map((sentence) => sentenceRow(text, sentence)));
  } catch (error) {
    trouble(error);
  }
}

function sentenceRow(text, { where, support, regions }) {
  const words = text.slice(...where).join("");
  const show = () => glance(["encode", { text: words, ...reading(), image: chosen("image") }], words);
  const places = regions.map((row) => `${row.name} ${percent(row.probability)}`).join(", ");
  return make("li", {},
    make("button", { type: "button", class: "sentence", ...whilePointed(show) },
      make("span", { class: "dot", "data-level": support.level, title: SUPPORT[support.level][0] }), make("span", {}, words)),
    make("small", { class: "soft" }, support.level === "none" ? "no known term" : places));
}

// ---- taking it along

const FORMS = {
  nifti: async () => saveBlob(await (await post(`${kind()}.nii.gz`, mapQuery())).blob(), "map.nii.gz"),
  png: async () => saveBlob(await (await post(`${kind()}.png`, mapQuery())).blob(), "map.png"),
  html: async () => saveBlob(await (await post("encode.html", query())).blob(), "report.html"),
  csv: async () => {
    const answer = await ask(kind(), { ...query(), regions: N_ALL });
    const rows = isPair() ? [...answer.more, ...answer.less.toReversed()] : answer.regions;
    saveTable(rows.map(({ at: [x, y, z], why, ...row }) => ({ ...row, x, y, z })), "regions.csv");
  },
};

async function download(button) {
  if (isEmpty()) return;
  button.disabled = true;
  try {
    await FORMS[button.dataset.form]();
  } catch (error) {
    trouble(error);
  } finally {
    button.disabled = false;
  }
}

const COPIES = {
  link: () => toLink({ ...query(), mode: chosen("mode"), image: chosen("image"), at }),
  python: () => asPython(query()),
  curl: () => asCurl(kind(), query()),
};

async function copy(button) {
  try {
    await navigator.clipboard.writeText(COPIES[button.dataset.copy]());
    toast("Copied");
  } catch {
    toast("The browser does not allow copying here");
  }
}

// ---- signs of life

function busy(yes) {
  $("stage").setAttribute("aria-busy", String(yes));
}

const isBusy = () => $("stage").getAttribute("aria-busy") === "true";

function trouble(error) {
  $("problem").hidden = !error;
  if (error) fill($("problem"), make("strong", {}, error.message), " ", error.hint ?? "");
}

// Whether what is shown belongs to another text than the one that is written.
function stale(yes) {
  document.body.classList.toggle("stale", yes);
}

function say(words) {
  $("said").textContent = words;
}

function toast(words) {
  $("toast").textContent = words;
  $("toast").hidden = false;
  hideToast();
}

const hideToast = settle(() => { $("toast").hidden = true; }, 1600);

function caption(words) {
  $("caption").hidden = !words;
  $("caption").textContent = words ?? "";
}

function drawLegend(scale, ofTerm = false) {
  if (!scale) return;
  const image = ofTerm || isPair() ? "log_ratio" : chosen("image");
  const { low, high } = scale;
  if (image === "mass") {
    const names = ["95 %", "80 %", "50 %"];
    fill($("legend"), ...LEVELS.map((colour, i) => make("span", { class: "level" }, make("i", { style: { background: `rgb(${colour})` } }), names[i])));
    return;
  }
  const bar = (name, back) => make("i", { class: "ramp", style: { background: `linear-gradient(to ${back ? "left" : "right"}, ${COLOURS[name].map((colour) => `rgb(${colour})`)})` } });
  const word = (value, sign) => {
    if (value === null) return sign < 0 ? "less" : "more";
    return image === "density" ? `${percent(1000 * value)}` : times(Math.exp(sign * value));
  };
  const name = $("colours").value;
  if (image === "density") fill($("legend"), word(low, -1), bar(name), word(high, 1), make("small", {}, "per cm³"));
  else fill($("legend"), word(high, -1), bar("ice", true), bar(name), word(high, 1), make("small", {}, isPair() ? "first to second" : "the average"));
}

// ---- wiring

function wire() {
  const later = settle(run, 450);
  $("text").addEventListener("input", later);
  $("other").addEventListener("input", later);
  for (const id of ["negation", "laterality"]) $(id).addEventListener("change", run);
  $("run").addEventListener("click", run);
  document.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run(); });
  $("mode").addEventListener("change", () => { setMode(); run(); });
  $("image").addEventListener("change", () => (isBusy() ? run() : attempt(showMap)));
  $("view").addEventListener("change", () => viewer.view(chosen("view")));
  $("by-sentence").addEventListener("toggle", tellSentences);
  for (const id of ["hidden", "opacity", "colours"]) $(id).addEventListener("input", restyle);
  $("coordinates").addEventListener("change", () => viewer.moveTo(["x", "y", "z"].map((axis) => Number($(axis).value))));
  $("coordinates").addEventListener("submit", (event) => event.preventDefault());
  $("downloads").addEventListener("click", (event) => event.target.closest("button") && download(event.target.closest("button")));
  $("copies").addEventListener("click", (event) => event.target.closest("button") && copy(event.target.closest("button")));
  $("theme").addEventListener("click", changeTheme);
  fill($("examples"), ...Object.entries(EXAMPLES).map(([name, text]) =>
    make("button", { type: "button", class: "chip", onclick: () => { $("text").value = text; run(); } }, name)));
}

function restyle() {
  const looks = { hidden: $("hidden").value / 100, opacity: $("opacity").value / 100, colours: $("colours").value };
  drawLegend(viewer.style(looks), shown?.[0] === "term");
}

function setMode() {
  $("other-field").hidden = !isPair();
  $("examples").hidden = isPair();
  document.body.classList.toggle("pair", isPair());
  $("regions-title").textContent = isPair() ? "More for the first" : "Regions";
  $("peaks-title").textContent = isPair() ? "More for the second" : "Peaks";
  $("peaks-note").textContent = isPair() ? "share of each map" : "MNI mm";
  if (isPair() && !$("other").value) [$("text").value, $("other").value] = PAIR;
}

function changeTheme() {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  localStorage.setItem("theme", theme);
}

async function begin() {
  wire();
  const asked = fromLink(location.hash);
  $("text").value = asked.text ?? Object.values(EXAMPLES)[0];
  $("other").value = asked.other ?? "";
  choose("mode", asked.mode ?? "one");
  choose("image", asked.image ?? "density");
  $("negation").checked = asked.negation ?? true;
  $("laterality").checked = asked.laterality ?? true;
  setMode();
  await run();
  if (asked.at) viewer.moveTo(asked.at);
  const about = await get("model").catch(() => null);
  if (about) {
    $("text").maxLength = $("other").maxLength = about.limits.max_text;
    $("about").textContent = `Learned from ${about.studies.toLocaleString("en")} studies and ${about.terms.toLocaleString("en")} terms · neurowhere ${about.version}`;
  }
}

begin();
