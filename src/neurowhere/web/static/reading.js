// Reading: the text with what became of its words, cut where any note begins or ends.

import { $, make } from "./dom.js";

const SHADES = 5;
const ROLE_WORDS = {
  seat: "seat of", extension: "reached by", satellite: "satellite of", edema: "edema of", pressed: "pressed by", mentioned: "named beside", old: "seat of an old",
  landmark: "near", level: "level at which is measured", compared: "compared with",
};

// Parts of a text, each with the notes that apply to it. Offsets count code points, as the API's do.
function cut(text, notes) {
  const points = Array.from(text);
  const edges = new Set([0, points.length]);
  for (const { where } of notes) where.forEach((edge) => edges.add(edge));
  const sorted = [...edges].sort((a, b) => a - b);
  return sorted.slice(0, -1).map((start, i) => ({
    words: points.slice(start, sorted[i + 1]).join(""),
    notes: notes.filter(({ where }) => where[0] <= start && start < where[1]),
  }));
}

function notesOn(result) {
  const added = new Map(); // by place, as a key: of its term, and of those within it or on its side
  for (const { where, contribution } of result.terms) {
    for (const place of where) added.set(String(place), (added.get(String(place)) ?? 0) + contribution);
  }
  const own = new Map(result.terms.map(({ term, contribution }) => [term, contribution]));
  const strongest = Math.max(1e-9, ...[...own.values()].map(Math.abs));
  const notes = [];
  for (const { kind: what, places } of result.findings ?? []) {
    for (const { where, role } of places) if (where && role !== "spared") notes.push({ where, kind: "role", role, title: `${ROLE_WORDS[role]} ${what ?? "the finding"}` });
  }
  for (const mention of result.mentions) {
    if (mention.status === "not_finding") {
      notes.push({ where: mention.where, kind: "skipped", title: `${mention.term}: in the section ${mention.section}, not counted` });
    } else if (mention.negation_where) {
      notes.push({ where: mention.where, kind: "denied", title: `${mention.term}: negated, not counted` });
      notes.push({ where: mention.negation_where, kind: "denies", title: `negates ${mention.term}` });
    } else if (added.has(String(mention.where))) {
      const value = own.get(mention.term) ?? added.get(String(mention.where)); // as its bar says
      const shade = Math.min(1 + Math.floor((SHADES * Math.abs(value)) / strongest), SHADES);
      const direction = value >= 0 ? "raises" : "lowers";
      notes.push({ where: mention.where, kind: "term", term: mention.term, direction, shade, title: `${mention.term}${mention.misspelt ? ", misspelt in the text" : ""}: ${direction} the map${mention.status === "hedged" ? "; the text leaves it open" : ""}` });
    }
    if (mention.side_where) notes.push({ where: mention.side_where, kind: "side", title: `side of ${mention.term}${sideNote(mention)}` });
  }
  for (const { name, where, applied } of result.rules) {
    if (applied && added.has(String(where))) {
      const value = added.get(String(where));
      const shade = Math.min(1 + Math.floor((SHADES * Math.abs(value)) / strongest), SHADES);
      notes.push({ where, kind: "rule", shade, title: `${name}: points to structures by a rule` });
    }
  }
  for (const { where, side } of result.unapplied_sides) {
    notes.push({ where, kind: "unapplied", title: `${side}: of a limb, visual field or symptom; not followed` });
  }
  return notes;
}

// Elements of the marked text; `onTerm` gives the handlers of a term.
export function marked(text, result, onTerm) {
  return cut(text, notesOn(result)).map(({ words, notes }) => {
    const kinds = new Map(notes.map((note) => [note.kind, note]));
    if (!kinds.size) return words;
    const title = [...new Set(notes.map((note) => note.title))].join("; ");
    const side = (kinds.has("side") && "side") || (kinds.has("unapplied") && "side unapplied");
    const term = kinds.get("term");
    const role = kinds.get("role") && `as-${kinds.get("role").role}`;
    if (kinds.has("denied")) return make("s", { class: "denied", title }, words);
    if (kinds.has("skipped")) return make("span", { class: "skipped", title }, words);
    if (term) {
      const classes = [term.direction, `s${term.shade}`, side, role].filter(Boolean).join(" ");
      return make("mark", { class: classes, title, tabindex: "0", role: "button", ...onTerm(term.term) }, words);
    }
    if (kinds.has("rule")) return make("mark", { class: ["raises", `s${kinds.get("rule").shade}`, role].filter(Boolean).join(" "), title }, words);
    if (role) return make("span", { class: role, title }, words);
    if (side) return make("u", { class: side, title }, words);
    return make("span", { class: "denies", title }, words);
  });
}

// Explain the marks that the text has, and no others.
export function tellKey() {
  for (const item of $("key").children) item.hidden = !$("reading").querySelector(item.dataset.for);
}

// What the side of a mention is, beyond left and right.
function sideNote(mention) {
  if (mention.side_dominant) return `, more on the ${mention.side_dominant}`;
  return mention.side_crossed ? ", which the other hemisphere serves" : "";
}
