// Legend: what the colours of a map mean, with round numbers and units; on the page and in figures.

import { LEVELS, LEVEL_NAMES, NEGATIVE, gradient } from "./colours.js";
import { make, times } from "./dom.js";

const UNITS = {
  density: "% of peaks per cm³",
  log_ratio: "as likely as in the average study",
  effect: "times as likely with the term",
  difference: "cold: more in the second · warm: more in the first (× the average, without the other)",
  mass: "expected to hold that share of the peaks",
  given: "values of the map",
  points: "nearness to a point",
  documents: "% of the peaks that the documents point to, per cm³",
  contrast: "times the reference documents",
};

// A number to two digits, as people write it.
export const round = (value) => String(Number(value.toPrecision(2)));

// What is written at an end of a colour bar.
export function worded(value, image, sign = 1) {
  if (image === "density") return round(1e5 * value);
  return image === "given" ? round(sign * value).replace("-", "−") : times(Math.exp(sign * value));
}

// A value of a map under the pointer.
export function valueWords(value, image, what) {
  if (image === "mass") return value >= 0.5 ? `within ${LEVEL_NAMES[Math.min(Math.round(value), 3) - 1]}` : "beyond 95 %";
  if (image === "density") return `${round(1e5 * value)} % of peaks per cm³`;
  return `${worded(value, image)}${image === "given" ? "" : ` ${what === "effect" ? "with the term" : what === "contrast" ? "the reference" : "the average"}`}`;
}

// What a density says of a point: how many times the usual one it is, as tables have it, and the density itself.
export function densityWords(density, mean, point, what) {
  const [here, usual] = [density.at(point), mean.at(point)];
  return [...(usual > 0 ? [`${times(here / usual)} ${what === "contrast" ? "the reference" : "the average"}`] : []), `${round(1e5 * here)} % of peaks per cm³`];
}

export const isSigned = (image) => image !== "density" && image !== "mass";

// Bars of a scale: the colour map, the words at its ends, and whether it runs from right to left.
export function barsOf({ image, low, high, colours }, isNegative) {
  const warm = { name: colours, from: worded(low, image), to: `≥ ${worded(high, image)}` };
  if (!isSigned(image) || !isNegative) return [warm];
  return [{ name: NEGATIVE, from: `≤ ${worded(high, image, -1)}`, to: worded(low, image, -1), backwards: true }, warm];
}

export const unitOf = (image, what) => UNITS[what] ?? UNITS[image];

// The legend as elements.
export function legend(scale, what, isNegative) {
  if (!scale) return [];
  if (scale.image === "mass") {
    const levels = LEVELS.map((colour, i) => make("span", { class: "level" }, make("i", { style: { background: `rgb(${colour})` } }), LEVEL_NAMES[i]));
    return [...levels, make("small", {}, unitOf("mass"))];
  }
  const bars = barsOf(scale, isNegative).flatMap(({ name, from, to, backwards }) =>
    [make("span", {}, from), make("i", { class: "ramp", style: { background: gradient(name, backwards ? "left" : "right") } }), make("span", { class: "end" }, to)]);
  return [...bars, make("small", {}, unitOf(scale.image, what))];
}
