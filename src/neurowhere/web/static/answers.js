// Answers: what came back, in the words of the library: support, reading, terms, regions, studies.

import { $, capital, chosen, fill, make, mm, percent, times } from "./dom.js";
import { chosenKind, reading } from "./form.js";
import { roving } from "./roving.js";
import { endGlance, glance, goTo, pin, showRegion } from "./stage.js";
import { barRow, fillTable, grouped, placeButton, studyRow } from "./tables.js";

export const SUPPORT = {
  good: ["Well supported", ""],
  weak: ["Weakly supported", "Few known words, or words that point nowhere in particular: read the map with care."],
  none: ["Nothing to map", "No term of the text says where."],
};
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

export function tellSupport({ support }) {
  const [name, words] = support.withheld ? [SUPPORT.none[0], `${capital(support.withheld)}.`] : SUPPORT[support.level];
  const known = support.terms && !support.withheld ? `${support.terms} known term${support.terms > 1 ? "s" : ""}. ` : "";
  $("support").textContent = name;
  $("support").dataset.level = support.level;
  $("support").title = support.summary;
  $("support-words").textContent = known + words;
  tellLanguage(support.foreign);
}

// The answer in a line: where, on which side, and how sure that is.
export function tellAnswer(...parts) {
  fill($("answer"), ...parts);
  $("answer").hidden = !parts.length;
}

export function answerOf({ places, support }) {
  if (support.withheld) return [];
  return [make("strong", {}, places), make("span", { class: "soft", "data-level": support.level }, ` · ${LEVELS[support.level]}`)];
}

const LEVELS = { good: "well supported", weak: "weakly supported: read it with care", none: "nothing to map" };

export function tellLanguage(foreign) {
  $("language").hidden = !foreign;
  $("language").textContent = foreign ? FOREIGN : "";
}

// Structures that an artery, a syndrome or a sign points to by a rule, not by what was learned.
export function tellRules(rules) {
  const applied = unique(rules.filter((rule) => rule.applied).map(({ name, structures }) => `“${name}” points to ${structures.map(sided).join(", ")}`));
  fill($("rule-list"), ...applied.map((words) => make("li", { class: "soft" }, words)));
  $("rules").hidden = !applied.length;
}

const sided = ({ side, term }) => (side ? `${side} ${term}` : term);

// Whether the text was read as a report or as a study, with a switch to the other.
export function tellKind({ kind, kind_signs: signs, places }, again) {
  const choose = (value) => { $("kind").value = value; again(); };
  const other = kind === "report" ? "study" : "report";
  const button = (words, value) => make("button", { type: "button", class: "link", onclick: () => choose(value) }, words);
  $("read-as").title = signs.length ? `Because of: ${signs.join(", ")}` : "";
  fill($("read-as"), `Read as a ${kind}`, chosenKind() ? ", as you chose. " : ". ", chosenKind() ? button("Let the text decide", "") : button(`Read as a ${other}`, other));
  $("read-as").hidden = chosen("mode") !== "one" || !places.length;
}

// What a report says is wrong: where it is, what it extends to and presses on; then what is normal.
const ROLES = {
  seat: "in", extension: "extends to", satellite: "satellite in", edema: "edema in", pressed: "presses on", mentioned: "also names", old: "old, in",
  landmark: "near", level: "measured at", compared: "compared with", spared: "normal",
};

const placeName = ({ name, side, status }) => `${status === "hedged" ? "possibly " : ""}${sided({ side, term: name })}`;
const unique = (items) => [...new Set(items)];

function roleWords(role, places, kind) {
  const share = kind === "study" ? 0 : places.reduce((sum, place) => sum + place.share, 0);
  return make("span", { class: `role ${role}` }, make("span", { class: "cue" }, `${ROLES[role]} `), unique(places.map(placeName)).join(", "),
    share >= 0.005 ? make("small", { class: "soft" }, ` ${percent(share)} of the map`) : null);
}

export function tellFindings(findings, readAs = "report") { // the map of a study is not drawn from them
  const rows = findings.map(({ kind, size_mm: size, places }) => {
    const roles = Object.keys(ROLES).filter((role) => role !== "spared").map((role) => [role, places.filter((place) => place.role === role)]);
    return [kind, size, roles.filter(([, those]) => those.length)];
  }).filter(([, , roles]) => roles.length);
  const spared = unique(findings.flatMap(({ places }) => places).filter(({ role }) => role === "spared").map(placeName));
  fill($("findings"),
    ...rows.map(([kind, size, roles]) => make("li", {}, make("strong", {}, capital(kind ?? "finding"), size ? `, ${size} mm` : ""), ...roles.map(([role, places]) => roleWords(role, places, readAs)))),
    ...(spared.length ? [make("li", {}, make("span", { class: "role spared" }, make("span", { class: "cue" }, "normal "), spared.join(", ")))] : []));
  $("findings").hidden = !rows.length && !spared.length;
}

// Words that count for nothing, each with buttons that put a known name in its place.
export function tellUnknown(element, unknown, n, correct) {
  const items = unknown.slice(0, N_UNKNOWN).flatMap(({ word, where, suggestions }, i) => [
    i ? ", " : "Not known: ", make("b", {}, word),
    ...(suggestions.length ? [" – did you mean ", ...joined(suggestions.map((name) => correction(where, name, correct))), "?"] : []),
  ]);
  if (items.length && n > N_UNKNOWN) items.push(` and ${n - Math.min(N_UNKNOWN, unknown.length)} more`);
  fill(element, ...items);
  element.hidden = !items.length;
}

const correction = (where, name, correct) =>
  make("button", { type: "button", class: "link", onclick: () => correct(where, name) }, name);

const joined = (items) => items.flatMap((item, i) => (i ? [i === items.length - 1 ? " or " : ", ", item] : [item]));

// Sentences of a report that give a lesion two sides, one of which is wrong.
export function tellContradictions(found) {
  const words = found.map(({ lobe, side, words: first, other_side: other, other_words: second }) =>
    `${lobe}: ${side} in “${first}”, but ${other ?? "normal there"} in “${second}”`);
  $("contradictions").textContent = words.length ? `This report contradicts itself. ${words.join("; ")}. Ask who wrote it.` : "";
  $("contradictions").hidden = !words.length;
}

// ---- lists and tables

export function tellTerms(terms) {
  const sorted = [...terms].sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution));
  const rows = bars(sorted.map(({ term, contribution, implied }) => [term, contribution, implied ? "by rule" : null]), N_SHOWN);
  fill($("terms"), ...(rows.length ? rows : [make("li", { class: "soft" }, "No known term")]));
  $("term-by-term").hidden = !terms.length;
  roving($("terms"), ".bar-row");
}

// The first of some terms over bars, which are as long as their values are to the strongest.
export function bars(rows, most, meaning) {
  const strongest = Math.max(1e-9, ...rows.map(([, value]) => Math.abs(value)));
  return rows.slice(0, most).map(([term, value, note]) => barRow(term, value / strongest, pointing(term), note, meaning));
}

const COLUMNS = { // by which regions can be sorted
  probability: ["Share", "Share of the map"], excess: ["Excess", "Share of the map beyond that of the average study, in percent points"], ratio: ["Ratio", "How many times the average study"],
};

// Regions in two groups, each sorted by the column that is marked; a press on another one sorts again.
// What is named comes first, and then as many of the others as there is room for.
export function tellRegions(answer, most, again, isAverage) { // the average exceeds itself nowhere
  const by = isAverage ? "probability" : $("sort").value;
  const inOrder = [...answer.regions].sort((a, b) => b.named - a.named || (b[by] ?? 0) - (a[by] ?? 0));
  const regions = inOrder.slice(0, most);
  const largest = Math.max(...regions.map(({ probability }) => probability), 1e-9);
  const heads = Object.entries(COLUMNS).map(([key, [words, title]]) => ({
    words, title, sorted: key === by, onclick: () => { $("sort").value = key; tellRegions(answer, most, again, isAverage); again(); },
  }));
  const cells = (row) => [
    placeButton(capital(row.name), row.at, (at) => showRegion(row, at), row),
    make("span", { class: "meter", style: { "--share": row.probability / largest } }, percent(row.probability)),
    points(row.excess), ratioCell(row.ratio),
  ];
  $("regions-note").textContent = "";
  fillTable($("regions"), ["Region", ...heads], grouped([
    [answer.rules.some(({ applied }) => applied) ? "Named in the text, or meant by a name in it" : "Named in the text", regions.filter(({ named }) => named).map(cells)],
    ["Also covered", regions.filter(({ named }) => !named).map(cells)],
  ]));
}

const points = (share) => make("span", { class: "soft" }, `${share < 0 ? "−" : "+"}${(100 * Math.abs(share)).toFixed(1)}`);

export function tellPeaks(peaks) {
  $("peaks-note").textContent = "maxima of the density, in MNI mm; how many times the average study";
  fillTable($("peaks"), ["Place", "Region", "Ratio"], peaks.map((row) => [
    placeButton(mm(row.at), row.at, goTo), make("span", { class: "wraps" }, capital(row.name ?? "–")), ratioCell(row.ratio),
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
  for (const id of ["answer", "contradictions", "findings", "read-as", "rules", "unknown", "language", "speaking-title", "contrast-note", "kept"]) $(id).hidden = true;
  for (const id of ["support", "support-words", "regions-note", "peaks-note", "place-where", "here"]) $(id).textContent = "";
  delete $("support").dataset.level;
}
