// Glass brain: the strongest value along each line of sight, within the outline of the brain.

import { painter } from "./colours.js";
import { BOX, arrange, drawHairs, labels } from "./sections.js";

const STEP_MM = 3; // along a line of sight
const PER_MM = 1; // pixels that are computed
const FAINT = 38; // grey of the inside
const EDGE = 150; // grey of the outline

const strongest = new WeakMap(); // by volume: of each plane

const sized = ({ axes }) => axes.map((axis) => Math.round(BOX[axis][1] * PER_MM));

// For each pixel of a plane, the value of the largest magnitude behind it.
function project(volume, plane) {
  const known = strongest.get(volume) ?? new Map();
  strongest.set(volume, known);
  if (known.has(plane.name)) return known.get(plane.name);
  const { cut, axes: [across, up] } = plane;
  const [width, height] = sized(plane);
  let best = new Float32Array(width * height);
  const [first, right, down] = [[0, 0, 0], [0, 0, 0], [0, 0, 0]];
  first[across] = BOX[across][0] + 0.5 / PER_MM;
  first[up] = BOX[up][0] + BOX[up][1] - 0.5 / PER_MM;
  right[across] = 1 / PER_MM;
  down[up] = -1 / PER_MM;
  const flat = volume.flattened(cut);
  if (flat) {
    first[cut] = 0.5; // between its layers, which are the same
    best = flat.plane(first, right, down, width, height);
  } else for (let at = BOX[cut][0]; at < BOX[cut][0] + BOX[cut][1]; at += STEP_MM) {
    first[cut] = at;
    const values = volume.plane(first, right, down, width, height);
    for (let i = 0; i < best.length; i += 1) if (Math.abs(values[i]) > Math.abs(best[i])) best[i] = values[i];
  }
  known.set(plane.name, best);
  return best;
}

function paint(data, brain, values, scale, width) {
  const colour = values && scale ? painter(scale) : () => 0;
  const mixed = [0, 0, 0];
  for (let i = 0; i < brain.length; i += 1) {
    const inside = brain[i] > 0;
    const isEdge = inside && !(brain[i - 1] > 0 && brain[i + 1] > 0 && brain[i - width] > 0 && brain[i + width] > 0);
    const share = colour(values?.[i] ?? 0, mixed, 0) * (scale?.opacity ?? 0);
    const grey = isEdge ? EDGE : FAINT;
    for (let k = 0; k < 3; k += 1) data[4 * i + k] = share * mixed[k] + (1 - share) * grey;
    data[4 * i + 3] = inside || share ? 255 : 0;
  }
}

// Draw a projection of a template and a map, without labels.
export function drawProjection(context, { template, maps, scale }, panel) {
  if (!template) return; // it may come later
  const sheet = sheetOf(template, maps[panel.map]?.volume, scale, panel.plane);
  context.drawImage(sheet, panel.left, panel.top, panel.width, panel.height);
}

const painted = new WeakMap(); // by volume: the last picture of each plane, which no crosshair changes

function sheetOf(template, volume, scale, plane) {
  const known = painted.get(volume ?? template) ?? new Map();
  painted.set(volume ?? template, known);
  const look = JSON.stringify([template.nx, scale]);
  if (known.get(plane.name)?.look === look) return known.get(plane.name).sheet;
  const [wide, high] = sized(plane);
  const pixels = new ImageData(wide, high);
  paint(pixels.data, project(template, plane), volume && project(volume, plane), scale, wide);
  const sheet = new OffscreenCanvas(wide, high);
  sheet.getContext("2d").putImageData(pixels, 0, 0);
  known.set(plane.name, { look, sheet });
  return sheet;
}

export function drawGlass(context, scene, { width, height, margin, dpr, bare }) {
  const head = (scene.maps.length > 1 ? 34 : 14) * dpr; // as of sections
  const { panels } = arrange(Math.max(scene.maps.length, 1), width - 2 * margin, height - 2 * margin - head);
  context.imageSmoothingQuality = "high";
  const drawn = panels.filter(({ isSolid }) => !isSolid);
  for (const panel of drawn) {
    panel.left += margin;
    panel.top += margin + head;
    const { label } = scene.maps[panel.map] ?? {};
    drawProjection(context, scene, panel);
    if (bare || scene.blank) continue;
    if (scene.crosshair) drawHairs(context, panel, scene.at, dpr);
    context.font = `${12 * dpr}px Inter, system-ui, sans-serif`;
    context.fillStyle = "#c3ced8";
    context.textBaseline = "bottom";
    for (const [words, x, y, align] of [...labels(panel, scene.at, 12 * dpr).slice(1), ...(label && panel.plane.cut === 0 ? [[label, panel.left, panel.top - 1 * dpr, "left"]] : [])]) {
      context.textAlign = align;
      context.fillText(words, x, y);
    }
  }
  return drawn;
}
