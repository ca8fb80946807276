// Figure: what is on the stage, as it is, for a paper: SVG, or a PNG of 300 dots per inch.

import { COLOURS, LEVELS, LEVEL_NAMES, NEGATIVE } from "./colours.js";
import { isSigned, unitOf } from "./legend.js";
import { hairs, labels } from "./sections.js";
import { roundNumbers, roundRatios } from "./ticks.js";

const [WIDTH, INCHES] = [720, 7.5]; // units across, and what they are in print
const DPI = 300;
const FINE = (DPI * INCHES) / WIDTH; // pixels per unit
const [TOP, FOOT, BAR] = [46, 26, 54];
const FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif";
const SVG = "http://www.w3.org/2000/svg";
const PER_CM3 = 1e5; // from mm⁻³ to percent per cm³

const escaped = (words) => String(words).replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
const rgb = (colour) => `rgb(${colour})`;
const text = (words, x, y, { size = 12, fill = "#222", anchor = "start", weight = 400 } = {}) =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="${size}" fill="${fill}" text-anchor="${anchor}" font-weight="${weight}">${escaped(words)}</text>`;

// ---- the picture

function picture(viewer, height) {
  const sheet = document.createElement("canvas");
  [sheet.width, sheet.height] = [Math.round(WIDTH * FINE), Math.round(height * FINE)];
  const size = { width: sheet.width, height: sheet.height, margin: 6 * FINE, dpr: FINE, finest: FINE * 2, bare: true };
  const panels = viewer.views[viewer.scene.view](sheet.getContext("2d"), viewer.scene, size);
  return { address: sheet.toDataURL("image/png"), panels: panels.filter(({ plane }) => plane) };
}

const inUnits = ({ left, top, width, height, ...rest }) => ({ ...rest, left: left / FINE, top: top / FINE, width: width / FINE, height: height / FINE });

function overlay({ scene }, panels) {
  const anchors = { left: "start", right: "end", center: "middle" };
  return panels.map(inUnits).map((panel) => {
    const lines = scene.crosshair ? hairs(panel, scene.at).map(([a, b, c, d]) => `<path d="M${a.toFixed(1)} ${b.toFixed(1)}L${c.toFixed(1)} ${d.toFixed(1)}" stroke="#4fd1c4" stroke-width="0.8"/>`) : [];
    const words = labels(panel, scene.at, 11).slice(scene.view === "glass" ? 1 : 0).map(([word, x, y, align]) => text(word, x, y - 2, { size: 11, fill: "#d5dde4", anchor: anchors[align] }));
    const { label } = scene.maps[panel.map] ?? {};
    if (label && panel.plane.cut === 0) words.push(text(label, panel.left, panel.top - 4, { size: 12, fill: "#ffffff", weight: 600 }));
    return [...lines, ...words].join("");
  }).join("");
}

// ---- the colour bar

const stops = (name, backwards) => (backwards ? COLOURS[name].toReversed() : COLOURS[name])
  .map((colour, i, all) => `<stop offset="${i / (all.length - 1)}" stop-color="${rgb(colour)}"/>`).join("");

// A bar from x to x + width, with ticks at [share of the bar, words].
function bar(id, name, x, width, ticks, backwards) {
  const marks = ticks.map(([share, words]) => {
    const at = x + width * (backwards ? 1 - share : share);
    return `<path d="M${at.toFixed(1)} 24v4" stroke="#444"/>${text(words, at, 39, { size: 10.5, anchor: "middle" })}`;
  });
  return `<linearGradient id="${id}">${stops(name, backwards)}</linearGradient><rect x="${x}" y="12" width="${width}" height="12" fill="url(#${id})"/>${marks.join("")}`;
}

function ticksOf({ image, low, high }, sign = 1) {
  const share = (value) => (value - low) / (high - low || 1);
  if (image === "density") return roundNumbers(PER_CM3 * low, PER_CM3 * high).map((value) => [share(value / PER_CM3), String(value)]);
  if (image === "given") return roundNumbers(low, high, 4).map((value) => [share(value), String(sign * value).replace("-", "−")]);
  return roundRatios(low, high).map((ratio) => [share(Math.log(ratio)), sign > 0 ? `×${ratio}` : `×${Number((1 / ratio).toPrecision(2))}`]);
}

function colourBar(scale, what, isNegative) {
  const unit = text(unitOf(scale.image, what), WIDTH / 2, 52, { size: 11, fill: "#555", anchor: "middle" });
  if (scale.image === "mass") {
    const levels = LEVELS.map((colour, i) => `<rect x="${WIDTH / 2 - 120 + 90 * i}" y="12" width="14" height="14" fill="${rgb(colour)}"/>${text(LEVEL_NAMES[i], WIDTH / 2 - 100 + 90 * i, 24, { size: 11 })}`);
    return levels.join("") + unit;
  }
  if (!isSigned(scale.image) || !isNegative) return bar("warm", scale.colours, WIDTH / 2 - 130, 260, ticksOf(scale)) + unit;
  return bar("cold", NEGATIVE, WIDTH / 2 - 225, 210, ticksOf(scale, -1), true) + bar("warm", scale.colours, WIDTH / 2 + 15, 210, ticksOf(scale)) + unit;
}

// ---- the whole

const shortened = (words, most) => (words.length > most ? `${words.slice(0, most - 1).trimEnd()}…` : words);

// The stage as SVG; `title` is what was asked, `words` what is shown, `source` what it came from.
export function toSvg(viewer, { title, words, what, source }) {
  const { scene, canvas } = viewer;
  const height = Math.round((WIDTH * canvas.clientHeight) / canvas.clientWidth);
  const { address, panels } = picture(viewer, height);
  const isNegative = scene.maps.some(({ volume }) => volume.hasNegative);
  const whole = TOP + height + BAR + FOOT;
  return `<svg xmlns="${SVG}" width="${INCHES}in" height="${((whole * INCHES) / WIDTH).toFixed(3)}in" viewBox="0 0 ${WIDTH} ${whole}" font-family="${FONT}">`
    + `<rect width="${WIDTH}" height="${whole}" fill="#ffffff"/>`
    + text(shortened(title, 78), 8, 20, { size: 14, weight: 600 }) + text(words, 8, 37, { size: 12, fill: "#555" })
    + `<g transform="translate(0 ${TOP})"><rect width="${WIDTH}" height="${height}" fill="#000000"/><image href="${address}" width="${WIDTH}" height="${height}"/>${overlay(viewer, panels)}</g>`
    + (scene.scale ? `<g transform="translate(0 ${TOP + height})">${colourBar(scene.scale, what, isNegative)}</g>` : "")
    + text(source, 8, whole - 8, { size: 10, fill: "#666" }) + "</svg>";
}

// The same as PNG.
export async function toPng(svg) {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  const image = new Image();
  try {
    await new Promise((done, failed) => { image.onload = done; image.onerror = failed; image.src = address; });
  } finally {
    URL.revokeObjectURL(address);
  }
  const sheet = document.createElement("canvas");
  const [, , , tall] = svg.match(/viewBox="([^"]+)"/)[1].split(" ").map(Number);
  [sheet.width, sheet.height] = [Math.round(WIDTH * FINE), Math.round(tall * FINE)];
  sheet.getContext("2d").drawImage(image, 0, 0, sheet.width, sheet.height);
  return withDensity(await new Promise((done) => { sheet.toBlob(done, "image/png"); }));
}

// ---- a PNG that knows its size in print

const DOTS_PER_METRE = Math.round(DPI / 0.0254);

async function withDensity(blob) {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const chunk = new DataView(new ArrayBuffer(21));
  chunk.setUint32(0, 9);
  [..."pHYs"].forEach((letter, i) => chunk.setUint8(4 + i, letter.charCodeAt(0)));
  chunk.setUint32(8, DOTS_PER_METRE);
  chunk.setUint32(12, DOTS_PER_METRE);
  chunk.setUint8(16, 1); // the unit is the metre
  chunk.setUint32(17, checksum(new Uint8Array(chunk.buffer, 4, 13)));
  const afterHeader = 33;
  return new Blob([bytes.slice(0, afterHeader), chunk, bytes.slice(afterHeader)], { type: "image/png" });
}

// The CRC of PNG.
function checksum(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let i = 0; i < 8; i += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}
