// Answers: what came back, in the words of the library: support, reading, terms, regions, studies.

import { $, capital, fill, make, mm, percent, times } from "./dom.js";
import { reading } from "./form.js";
import { roving } from "./roving.js";
import { endGlance, glance, goTo, pin, showRegion } from "./stage.js";
import { barRow, fillTable, placeButton, studyRow } from "./tables.js";

export const SUPPORT = {
  good: ["Well supported", "The model knows enough of these words to tell where they point."],
  weak: ["Weakly supported", "Few known words, or words that point nowhere in particular: read the map with care."],
  none: ["Not supported", "The text contains no term that the model knows, so this is the average map of all studies."],
};
const DENIED = "The text negates all terms that the model knows, so this is the average map of all studies.";
const FOREIGN = "The text does not seem to be in English. The model reads English only.";
const N_SHOWN = 12; // terms of a list
const N_UNKNOWN = 8;

// ---- pointing at something shows its map

export function whilePointed(view) {
  const show = () => glance(view());
  const press = (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pin(view()); }
  };
  return { onmouseenter: show, onmouseleave: endGlance, onfocus: show, onblur: endGlance, onclick: () => pin(view()), onkeydown: press };
}

export const termView = (term) => ({ term, words: `The term “${term}”: what the model knows about it`, parts: [["term", { name: term }]], image: "log_ratio", what: "effect" });
export const pointing = (term) => whilePointed(() => termView(term));

// ---- what was read

export function tellSupport({ support, mentions }) {
  const [name, words] = support.withheld ? [SUPPORT.none[0], capital(`${support.summary}.`)] : SUPPORT[support.level];
  const isDenied = !support.withheld && support.level === "none" && mentions.some(({ status }) => status === "denied");
  const known = support.terms && !support.withheld ? `${support.terms} known term${support.terms > 1 ? "s" : ""}. ` : "";
  $("support").textContent = name;
  $("support").dataset.level = support.level;
  $("support").title = support.summary;
  $("support-words").textContent = isDenied ? DENIED : known + words;
  tellLanguage(support.foreign);
}

export function tellLanguage(foreign) {
  $("language").hidden = !foreign;
  $("language").textContent = foreign ? FOREIGN : "";
}

// Structures that an artery, a syndrome or a sign points to by a rule, not by what was learned.
export function tellRules(rules) {
  const applied = rules.filter((rule) => rule.applied);
  const words = applied.map(({ name, structures }) =>
    `“${name}” points to ${structures.map(({ side, term }) => (side ? `${side} ${term}` : term)).join(", ")}`);
  $("rules").textContent = words.length ? `By rule: ${words.join("; ")}.` : "";
  $("rules").hidden = !words.length;
}

// Words that count for nothing, each with buttons that put a known name in its place.
export function tellUnknown(unknown, n, correct) {
  const items = unknown.slice(0, N_UNKNOWN).flatMap(({ word, where, suggestions }, i) => [
    i ? ", " : "Not known: ", make("b", {}, word),
    ...(suggestions.length ? [" (did you mean ", ...joined(suggestions.map((name) => correction(where, name, correct))), "?)"] : []),
  ]);
  if (items.length && n > N_UNKNOWN) items.push(` and ${n - Math.min(N_UNKNOWN, unknown.length)} more`);
  fill($("unknown"), ...items);
  $("unknown").hidden = !items.length;
}

const correction = (where, name, correct) =>
  make("button", { type: "button", class: "link", onclick: () => correct(where, name) }, name);

const joined = (items) => items.flatMap((item, i) => (i ? [i === items.length - 1 ? " or " : ", ", item] : [item]));

// ---- lists and tables

export function tellTerms(terms) {
  const sorted = [...terms].sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution));
  fill($("terms"), ...contributions(sorted, N_SHOWN));
  roving($("terms"), ".bar-row");
}

export function contributions(terms, most) {
  const rows = bars(terms.map(({ term, contribution, implied }) => [term, contribution, implied ? "by rule" : null]), most);
  return rows.length ? rows : [make("li", { class: "soft" }, "No known term")];
}

// The first of some terms over bars, which are as long as their values are to the strongest.
export function bars(rows, most) {
  const strongest = Math.max(1e-9, ...rows.map(([, value]) => Math.abs(value)));
  return rows.slice(0, most).map(([term, value, note]) => barRow(term, value / strongest, pointing(term), note));
}

export function tellRegions(regions) {
  const largest = Math.max(...regions.map(({ probability }) => probability), 1e-9);
  $("regions-note").textContent = "share of the map";
  fillTable($("regions"), ["Region", "Share", "vs average"], regions.map((row) => [
    placeButton(capital(row.name), row.at, (at) => showRegion(row, at), row.region),
    make("span", { class: "meter", style: { "--share": row.probability / largest } }, percent(row.probability)),
    ratioCell(row.ratio),
  ]));
}

export function tellPeaks(peaks) {
  $("peaks-note").textContent = "maxima of the density, in MNI mm";
  fillTable($("peaks"), ["Place", "Region", "vs average"], peaks.map((row) => [
    placeButton(mm(row.at), row.at, goTo), capital(row.name ?? "–"), ratioCell(row.ratio),
  ]));
}

export const ratioCell = (ratio) =>
  make("span", { class: ratio === null || (ratio > 0.67 && ratio < 1.5) ? "soft" : ratio > 1 ? "up" : "down" }, times(ratio));

export const tellStudies = (list, studies, terms) => fill(list, ...studies.map((study) => studyRow(study, terms.map(({ term }) => term))));

// ---- sentence by sentence

export function sentenceRow(words, { support, regions }, image) {
  const view = () => ({ words: `Sentence: ${words}`, parts: [["encode", { text: words, ...reading(), image }]], image });
  const places = regions.map((row) => `${row.name} ${percent(row.probability)}`).join(", ");
  return make("li", {},
    make("button", { type: "button", class: "sentence", ...whilePointed(view) },
      make("span", { class: "dot", "data-level": support.level, title: support.withheld ?? SUPPORT[support.level][0] }), make("span", {}, words)),
    make("small", { class: "soft" }, support.withheld ?? (support.level === "none" ? "no known term" : places)));
}

export function clearAnswers() {
  for (const id of ["reading", "terms", "sentences", "similar", "reasons", "speaking"]) fill($(id));
  for (const id of ["regions", "peaks"]) fillTable($(id), [], []);
  for (const id of ["rules", "unknown", "language", "speaking-title", "contrast-note", "kept"]) $(id).hidden = true;
  for (const id of ["support", "support-words", "regions-note", "peaks-note", "place-where", "here"]) $(id).textContent = "";
  delete $("support").dataset.level;
}
