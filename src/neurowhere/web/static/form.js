// Form: what is asked, as plain fields; the form of the page and a link hold the same ones.

import { $, choose, chosen } from "./dom.js";

const TEXTS = ["text", "other", "term", "points", "threshold", "group", "against"];
const SWITCHES = ["negation", "sides", "crosshair", "inflated", "without", "matched"];
const CHOICES = ["mode", "image", "view"];
const VALUES = ["hidden", "opacity", "colours", "sort", "atlas", "collection"];
export const LOOKS = { hidden: "90", opacity: "90", colours: "ember", crosshair: true, inflated: true };
export const DEFAULTS = {
  mode: "one", text: "", other: "", term: "", points: "", threshold: "", group: "", against: "", collection: "", without: false, matched: false, atlas: "default", image: "density", view: "slices", sort: "excess", negation: true, sides: true, ...LOOKS,
};

export function readForm() {
  return {
    ...Object.fromEntries(CHOICES.map((name) => [name, chosen(name)])),
    ...Object.fromEntries([...TEXTS, ...VALUES].map((name) => [name, $(name).value])),
    ...Object.fromEntries(SWITCHES.map((name) => [name, $(name).checked])),
  };
}

export function writeForm(fields) {
  const all = { ...DEFAULTS, ...fields };
  for (const name of CHOICES) choose(name, all[name]);
  for (const name of [...TEXTS, ...VALUES]) if ($(name).value !== all[name]) $(name).value = all[name];
  for (const name of SWITCHES) $(name).checked = all[name];
}

export const looks = () => ({ hidden: $("hidden").value / 100, opacity: $("opacity").value / 100, colours: $("colours").value });
export const reading = () => ({ negation: $("negation").checked, sides: $("sides").checked });
export const naming = () => ({ atlas: $("atlas").value });
export const text = () => $("text").value;
export const other = () => $("other").value;

// Two texts are compared once both are written.
export const isPair = () => chosen("mode") === "two" && Boolean(other().trim());

// ---- links: fields that differ from the usual ones, after the #, which a browser keeps to itself

export function toHash(fields) {
  const changed = Object.entries(fields).filter(([name, value]) => value !== DEFAULTS[name] && value !== "");
  return `#${new URLSearchParams(changed.map(([name, value]) => [name, typeof value === "boolean" ? Number(value) : value]))}`;
}

export function fromHash(hash) {
  const fields = Object.fromEntries(new URLSearchParams(hash.slice(1)));
  for (const name of SWITCHES) if (name in fields) fields[name] = fields[name] !== "0";
  const at = fields.at?.split(",").map(Number);
  return { ...fields, at: at?.length === 3 && at.every(Number.isFinite) ? at : null };
}
