// Form: what is asked, as plain fields; the form of the page and a link hold the same ones.

import { $, choose, chosen } from "./dom.js";

const TEXTS = ["text", "other", "term", "points", "threshold", "group", "against"];
const SWITCHES = ["negation", "sides", "crosshair", "inflated", "unadjusted", "matched"];
const CHOICES = ["mode", "image", "view"];
const VALUES = ["hidden", "opacity", "colours", "sort", "kind", "atlas", "collection"];
export const LOOKS = { hidden: "90", opacity: "90", colours: "ember", crosshair: true, inflated: true };
export const DEFAULTS = {
  mode: "one", text: "", other: "", term: "", points: "", threshold: "", group: "", against: "", collection: "", unadjusted: false, matched: false, kind: "", atlas: "default", image: "log_ratio", view: "slices", sort: "excess", negation: true, sides: true, ...LOOKS,
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
// Switches that a mode does not show have no effect on it.
const isOn = (name) => !belongs(name, chosen("mode")) || $(name).checked;
export const chosenKind = () => (chosen("mode") === "one" ? $("kind").value : "");
export const reading = () => ({ negation: isOn("negation"), sides: isOn("sides"), ...(chosenKind() && { kind: chosenKind() }) });
export const naming = () => ({ atlas: $("atlas").value });
export const text = () => $("text").value;
export const other = () => $("other").value;

// Two texts are compared once both are written.
export const isPair = () => chosen("mode") === "two" && Boolean(other().trim());

// ---- links: fields that differ from the usual ones, after the #, which a browser keeps to itself

// Whether a field is of a mode: what is written for another one goes into no link.
function belongs(name, mode) {
  const modes = $(name)?.closest("[data-modes]")?.dataset.modes;
  return !modes || modes.split(" ").includes(mode);
}

const changed = (fields, isWanted) => Object.entries(fields)
  .filter(([name, value]) => value !== DEFAULTS[name] && value !== "" && isWanted(name));

export function toHash(fields) {
  const asked = changed(fields, (name) => belongs(name, fields.mode));
  return `#${new URLSearchParams(asked.map(([name, value]) => [name, typeof value === "boolean" ? Number(value) : value]))}`;
}

// What is written for the other modes.
export const drafts = (fields) => Object.fromEntries(changed(fields, (name) => !belongs(name, fields.mode)));

export function fromHash(hash) {
  const fields = Object.fromEntries(new URLSearchParams(hash.slice(1)));
  for (const name of SWITCHES) if (name in fields) fields[name] = fields[name] !== "0";
  const at = fields.at?.split(",").map(Number);
  return { ...fields, at: at?.length === 3 && at.every(Number.isFinite) ? at : null };
}
