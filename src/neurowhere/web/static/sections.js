// Sections: three planes through a point of the brain, for one map or several side by side.

import { painter } from "./colours.js";

// The box of the template in mm: first edge and length along x, y and z.
export const BOX = [[-76.5, 152], [-110.5, 186], [-72.5, 160]];
export const PLANES = [
  { name: "sagittal", cut: 0, axes: [1, 2], ends: ["P", "A"] },
  { name: "coronal", cut: 1, axes: [0, 2], ends: ["L", "R"] },
  { name: "axial", cut: 2, axes: [0, 1], ends: ["L", "R"] },
];
const AXES = ["x", "y", "z"];
const GAP = 6; // between panels, in mm
const FINEST = 2; // pixels per mm that are computed; beyond that the browser enlarges
const GREY = 0.85; // of the template, so that colours stand out
const MOST_SHEETS = 12; // sizes of sections that are kept
const HAIR = "79 209 196";
const CLEAR_MM = 5; // around the crosshair's centre, so that what lies there is seen

const wide = ({ axes }) => BOX[axes[0]][1];
const high = ({ axes }) => BOX[axes[1]][1];

// Ways to arrange the planes of one map in a box: rows of planes.
const IN_A_ROW = [[0, 1, 2]];
const ARRANGEMENTS = [[[0, 1], [2]], IN_A_ROW, [[0], [1], [2]]];

// Where the panels of `n` maps go: those of one map together, as large as they fit.
export function arrange(n, width, height) {
  let best = null;
  for (const rows of n > 1 ? [IN_A_ROW] : ARRANGEMENTS) { // maps that are compared are one above the other
    const size = [Math.max(...rows.map((row) => row.reduce((sum, i) => sum + wide(PLANES[i]) + GAP, -GAP))),
      rows.reduce((sum, row) => sum + Math.max(...row.map((i) => high(PLANES[i]))) + GAP, -GAP)];
    const scale = Math.min(width / size[0], height / (n * (size[1] + 3 * GAP) - 3 * GAP));
    if (!best || scale > best.scale) best = { rows, size, scale };
  }
  return placed(best, n, width, height);
}

function placed({ rows, size, scale }, n, width, height) {
  const [margin, step] = [3 * GAP, size[1] + 3 * GAP];
  const left = (width - scale * size[0]) / 2;
  const top = (height - scale * (n * step - margin)) / 2;
  const panels = [];
  for (let map = 0; map < n; map += 1) {
    let y = top + scale * step * map;
    for (const row of rows) {
      let x = left;
      for (const i of row) {
        const plane = PLANES[i];
        panels.push({ map, plane, left: x, top: y, width: scale * wide(plane), height: scale * high(plane) });
        x += scale * (wide(plane) + GAP);
      }
      if (row.length === 1 && rows.length === 2) { // a corner is free: the whole brain, which can be turned
        const plane = PLANES[row[0]];
        panels.push({ map, plane, isSolid: true, left: x, top: y, width: scale * wide(plane), height: scale * high(plane) });
      }
      y += scale * (Math.max(...row.map((i) => high(PLANES[i]))) + GAP);
    }
  }
  return { scale, panels };
}

// Draw a section of a template and a map, without labels.
export function drawSection(context, { template, volume, scale, at, outline }, panel, finest = FINEST) {
  const { plane } = panel;
  const fine = Math.min(panel.width / wide(plane), finest);
  const [width, height] = [Math.round(fine * wide(plane)), Math.round(fine * high(plane))];
  const [first, right, down] = grid(plane, at, fine);
  const sheet = sheetOf(width, height);
  const grey = template?.plane(first, right, down, width, height, sheet.grey) ?? sheet.grey.fill(0); // it may come later
  const values = volume?.plane(first, right, down, width, height, sheet.values);
  paint(sheet.pixels.data, grey, values, scale);
  if (outline) drawOutline(sheet.pixels, outline.volume.plane(first, right, down, width, height));
  sheet.context.putImageData(sheet.pixels, 0, 0);
  context.imageSmoothingQuality = "high";
  context.drawImage(sheet.canvas, panel.left, panel.top, panel.width, panel.height);
}

// What a section of a size is drawn with; kept, because a new one at each move would be garbage.
const sheets = new Map();

function sheetOf(width, height) {
  const key = `${width} ${height}`;
  if (!sheets.has(key)) {
    if (sheets.size >= MOST_SHEETS) sheets.clear();
    const canvas = new OffscreenCanvas(width, height);
    const [grey, values] = [new Float32Array(width * height), new Float32Array(width * height)];
    sheets.set(key, { canvas, context: canvas.getContext("2d"), pixels: new ImageData(width, height), grey, values });
  }
  return sheets.get(key);
}

// The first point of a plane, and the steps to the right and down, in mm.
function grid({ cut, axes: [across, up] }, at, fine) {
  const [first, right, down] = [[0, 0, 0], [0, 0, 0], [0, 0, 0]];
  first[cut] = at[cut];
  first[across] = BOX[across][0] + 0.5 / fine;
  first[up] = BOX[up][0] + BOX[up][1] - 0.5 / fine;
  right[across] = 1 / fine;
  down[up] = -1 / fine;
  return [first, right, down];
}

function paint(into, grey, values, scale) {
  const colour = values && painter(scale);
  const opacity = scale?.opacity ?? 0;
  const mixed = [0, 0, 0];
  for (let i = 0; i < grey.length; i += 1) {
    const base = GREY * grey[i];
    const share = colour ? colour(values[i], mixed, 0) * opacity : 0;
    for (let k = 0; k < 3; k += 1) into[4 * i + k] = share * mixed[k] + (1 - share) * base;
    into[4 * i + 3] = grey[i] > 0 ? 255 : Math.round(255 * share);
  }
}

// White where a mask ends.
function drawOutline({ data, width, height }, mask) {
  const isIn = (x, y) => x >= 0 && y >= 0 && x < width && y < height && mask[y * width + x] >= 0.5;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      if (!isIn(x, y) || (isIn(x - 1, y) && isIn(x + 1, y) && isIn(x, y - 1) && isIn(x, y + 1))) continue;
      data.set([255, 255, 255, 255], 4 * (y * width + x));
    }
  }
}

// Lines of the crosshair in a panel: [from x, from y, to x, to y] in pixels.
export function hairs({ plane: { axes }, left, top, width, height }, at) {
  const scale = width / BOX[axes[0]][1];
  const x = left + scale * (at[axes[0]] - BOX[axes[0]][0]);
  const y = top + height - scale * (at[axes[1]] - BOX[axes[1]][0]);
  const clear = scale * CLEAR_MM;
  return [[left, y, x - clear, y], [x + clear, y, left + width, y], [x, top, x, y - clear], [x, y + clear, x, top + height]]
    .filter(([a, b, c, d]) => c > a || d > b);
}

export function drawHairs(context, panel, at, thickness) {
  context.strokeStyle = `rgb(${HAIR} / 85%)`;
  context.lineWidth = thickness;
  context.beginPath();
  for (const [a, b, c, d] of hairs(panel, at)) {
    context.moveTo(a, b);
    context.lineTo(c, d);
  }
  context.stroke();
}

// Words of a panel: which plane, and which side is which: [words, x, y, how it is aligned].
export function labels({ plane: { cut, ends }, isSolid, left, top, width, height }, at, size) {
  if (isSolid) return [];
  const middle = top + height / 2;
  const place = `${AXES[cut]} = ${String(Math.round(at[cut])).replace("-", "−")}`;
  return [
    [place, left + size * 0.1, top + height, "left"],
    [ends[0], left + size * 0.1, middle, "left"],
    [ends[1], left + width - size * 0.1, middle, "right"],
  ];
}

// The point of the brain under a point of the picture, or null.
export function pointUnder(panels, x, y, at) {
  const panel = panels.find((each) => x >= each.left && x < each.left + each.width && y >= each.top && y < each.top + each.height);
  if (!panel) return null;
  const { axes } = panel.plane;
  const scale = panel.width / BOX[axes[0]][1];
  const point = [...at];
  point[axes[0]] = BOX[axes[0]][0] + (x - panel.left) / scale;
  point[axes[1]] = BOX[axes[1]][0] + (panel.top + panel.height - y) / scale;
  return { point, plane: panel.plane, map: panel.map };
}
