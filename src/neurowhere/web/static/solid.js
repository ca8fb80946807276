// Solid: the whole brain from any side, with the map on it, beside the sections; it is made from the template alone.

import { painter } from "./colours.js";

const CENTRE = [0, -18, 8]; // of the brain, in mm
const RADIUS = 92; // of what is shown around it
const TISSUE = 70; // of the template: what is darker is fluid
const [STRIDE, FINE] = [4, 1]; // along a line of sight, before the brain and at its edge
const DEPTHS = [2, 5, 8, 11]; // below the surface, of which the strongest value is shown
const PER_PIXEL = 1.25; // mm
const [GREY, DARKEST] = [225, 0.25];
const LIGHT = [-0.35, 0.55, 0.76]; // to the right, up, towards the eye

// The eye's right, up and nearness for an azimuth and an elevation in degrees; −90 is from the left.
export function axes(azimuth, elevation) {
  const [a, e] = [azimuth, elevation].map((degrees) => (degrees * Math.PI) / 180);
  const near = [Math.sin(a) * Math.cos(e), -Math.cos(a) * Math.cos(e), Math.sin(e)];
  const right = [Math.cos(a), Math.sin(a), 0];
  return [right, [near[1] * right[2] - near[2] * right[1], near[2] * right[0] - near[0] * right[2], near[0] * right[1] - near[1] * right[0]], near];
}

// How near the brain is at each pixel of a square picture, or −Infinity; and the point of a pixel at a nearness.
function surfaceOf(template, [right, up, near], size) {
  const nearness = new Float32Array(size * size).fill(-Infinity);
  const step = (2 * RADIUS) / size;
  const at = (column, row, z) => {
    const [x, y] = [(column + 0.5) * step - RADIUS, RADIUS - (row + 0.5) * step];
    return [0, 1, 2].map((k) => CENTRE[k] + x * right[k] + y * up[k] + z * near[k]);
  };
  const [nx, ny, nz] = [template.nx, template.ny, template.nz];
  const toward = [0, 1, 2].map((i) => template.inverse[i][0] * near[0] + template.inverse[i][1] * near[1] + template.inverse[i][2] * near[2]);
  const grey = (start, z) => {
    const i = Math.round(start[0] + z * toward[0]);
    const j = Math.round(start[1] + z * toward[1]);
    const k = Math.round(start[2] + z * toward[2]);
    return i < 0 || j < 0 || k < 0 || i >= nx || j >= ny || k >= nz ? 0 : template.values[i + nx * (j + ny * k)];
  };
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column < size; column += 1) {
      const start = template.toVoxel(at(column, row, 0));
      for (let z = RADIUS; z > -RADIUS; z -= STRIDE) {
        if (grey(start, z) < TISSUE) continue;
        let edge = z;
        while (edge < z + STRIDE && grey(start, edge + FINE) >= TISSUE) edge += FINE;
        nearness[row * size + column] = edge;
        break;
      }
    }
  }
  return { nearness, at, size, near };
}

const surfaces = new WeakMap(); // by template: the last one

function keptSurface(template, turn, size) {
  const key = `${turn} ${size}`;
  if (surfaces.get(template)?.key !== key) surfaces.set(template, { key, ...surfaceOf(template, axes(...turn), size) });
  return surfaces.get(template);
}

function paint(data, { nearness, at, size, near }, volume, scale, raisedOnly) {
  const colour = volume && scale ? painter(scale) : () => 0;
  const mixed = [0, 0, 0];
  const known = (n) => (nearness[n] > -RADIUS ? nearness[n] : null);
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column < size; column += 1) {
      const n = row * size + column;
      const z = nearness[n];
      if (z === -Infinity) continue;
      const slope = (step) => {
        const [before, after] = [known(n - step) ?? z - 4, known(n + step) ?? z - 4];
        return Math.max(-6, Math.min(6, (after - before) / (2 * PER_PIXEL)));
      };
      const [over, under] = [slope(1), slope(size)];
      const length = Math.hypot(over, under, 1);
      const light = Math.max(0, (-over * LIGHT[0] + under * LIGHT[1] + LIGHT[2]) / length);
      let strongest = 0;
      if (volume) {
        const point = at(column, row, z);
        for (const depth of DEPTHS) {
          const value = volume.nearest(point.map((mm, k) => mm - depth * near[k]));
          if (Math.abs(value) > Math.abs(strongest) && (value > 0 || !raisedOnly)) strongest = value;
        }
      }
      const share = colour(strongest, mixed, 0) * (scale?.opacity ?? 0);
      const shade = DARKEST + (1 - DARKEST) * light;
      for (let k = 0; k < 3; k += 1) data[4 * n + k] = (share * mixed[k] + (1 - share) * GREY) * (share > 0.5 ? 0.4 + 0.6 * shade : shade);
      data[4 * n + 3] = 255;
    }
  }
}

const painted = new WeakMap(); // by template: the last picture of each map

// Draw the brain into a panel; gives what is under a pixel of it.
// Of a ratio to the average it shows what is raised: where a text points.
export function drawSolid(context, { template, maps, scale, small, raisedOnly }, panel) {
  if (!template) return null; // it may come later
  const edge = Math.min(panel.width, panel.height);
  const size = Math.round((2 * RADIUS) / PER_PIXEL);
  const surface = keptSurface(template, small, size);
  const volume = maps[panel.map]?.volume;
  const look = JSON.stringify([small, scale, raisedOnly]);
  const known = painted.get(template) ?? new Map();
  painted.set(template, known);
  if (known.get(panel.map)?.look !== look || known.get(panel.map).volume !== volume) {
    const pixels = new ImageData(size, size);
    paint(pixels.data, surface, volume, scale, raisedOnly);
    const sheet = new OffscreenCanvas(size, size);
    sheet.getContext("2d").putImageData(pixels, 0, 0);
    known.set(panel.map, { look, volume, sheet });
  }
  const [left, top] = [panel.left + (panel.width - edge) / 2, panel.top + (panel.height - edge) / 2];
  context.imageSmoothingQuality = "high";
  context.drawImage(known.get(panel.map).sheet, left, top, edge, edge);
  return (x, y) => {
    const [column, row] = [x - left, y - top].map((distance) => Math.floor((distance / edge) * size));
    const z = column >= 0 && row >= 0 && column < size && row < size ? surface.nearness[row * size + column] : -Infinity;
    return z === -Infinity ? null : surface.at(column, row, z - DEPTHS[0]);
  };
}

// From where it is seen, in words.
export function sideWords([azimuth, elevation]) {
  if (elevation > 60) return "from above";
  if (elevation < -60) return "from below";
  const turned = ((azimuth % 360) + 360) % 360;
  const sides = ["behind", "the right", "the front", "the left"];
  return `from ${sides[Math.round(turned / 90) % 4]}`;
}
