// Surface: maps on the cortex, drawn triangle by triangle with a depth for each pixel; no WebGL.

import { painter } from "./colours.js";
import { valuesOn } from "./cortex.js";
import { axes } from "./solid.js";

const [GYRUS, SULCUS] = [205, 150];
const LIGHT = [0.25, 0.45, 0.85]; // to the right, up, towards the eye
const AMBIENT = 0.35;
// Left and right from outside, then from inside: half, and the angle from which it is seen, in degrees.
export const VIEWS = [
  { half: 0, azimuth: -90, name: "left, lateral" }, { half: 1, azimuth: 90, name: "right, lateral" },
  { half: 0, azimuth: 90, name: "left, medial" }, { half: 1, azimuth: -90, name: "right, medial" },
];
const TOO_FAR_MM = 12; // of the crosshair from the surface, to mark it there
const HIDDEN_MM = 8; // from what is seen at its pixel: beyond that it lies behind

// Red, green and blue of each vertex: the map over the greys of gyri and sulci.
function coloursOf(half, values, scale) {
  const colours = new Float32Array(3 * half.n);
  const colour = values && scale ? painter(scale) : () => 0;
  const mixed = [0, 0, 0];
  for (let i = 0; i < half.n; i += 1) {
    const grey = half.sulcus[i] ? SULCUS : GYRUS;
    const share = colour(values?.[i] ?? 0, mixed, 0) * (scale?.opacity ?? 0);
    for (let k = 0; k < 3; k += 1) colours[3 * i + k] = share * mixed[k] + (1 - share) * grey;
  }
  return colours;
}

// Draw one half into a box; gives the vertex that each pixel shows, or −1.
function drawHalf(context, half, kind, colours, { azimuth, elevation }, box) {
  const [width, height] = [Math.max(1, Math.round(box.width)), Math.max(1, Math.round(box.height))];
  const points = half[kind];
  const [right, up, near] = axes(azimuth, elevation);
  const screen = new Float32Array(3 * half.n);
  const shade = new Float32Array(half.n);
  const low = [Infinity, Infinity];
  const high = [-Infinity, -Infinity];
  for (let i = 0; i < half.n; i += 1) {
    const [x, y, z] = [points[3 * i], points[3 * i + 1], points[3 * i + 2]];
    const at = [right[0] * x + right[1] * y + right[2] * z, up[0] * x + up[1] * y + up[2] * z, near[0] * x + near[1] * y + near[2] * z];
    for (let k = 0; k < 3; k += 1) screen[3 * i + k] = at[k];
    for (let k = 0; k < 2; k += 1) { low[k] = Math.min(low[k], at[k]); high[k] = Math.max(high[k], at[k]); }
    const normal = half.normals[kind];
    const [p, q, r] = [normal[3 * i], normal[3 * i + 1], normal[3 * i + 2]];
    const light = LIGHT[0] * (right[0] * p + right[1] * q + right[2] * r) + LIGHT[1] * (up[0] * p + up[1] * q + up[2] * r) + LIGHT[2] * (near[0] * p + near[1] * q + near[2] * r);
    shade[i] = AMBIENT + (1 - AMBIENT) * Math.max(0, light);
  }
  const scale = 0.94 * Math.min(width / (high[0] - low[0]), height / (high[1] - low[1]));
  for (let i = 0; i < half.n; i += 1) {
    screen[3 * i] = width / 2 + scale * (screen[3 * i] - (low[0] + high[0]) / 2);
    screen[3 * i + 1] = height / 2 - scale * (screen[3 * i + 1] - (low[1] + high[1]) / 2);
  }
  const pixels = new ImageData(width, height);
  const shown = fillFaces(pixels, half.faces, screen, colours, shade);
  const sheet = new OffscreenCanvas(width, height);
  sheet.getContext("2d").putImageData(pixels, 0, 0);
  context.drawImage(sheet, box.left, box.top);
  return { shown, width, screen };
}

// Fill each face that looks at the eye, where nothing nearer was drawn.
function fillFaces({ data, width, height }, faces, screen, colours, shade) {
  const depth = new Float32Array(width * height).fill(-Infinity);
  const shown = new Int32Array(width * height).fill(-1);
  for (let f = 0; f < faces.length; f += 3) {
    const [a, b, c] = [faces[f], faces[f + 1], faces[f + 2]];
    const [ax, ay, bx, by, cx, cy] = [screen[3 * a], screen[3 * a + 1], screen[3 * b], screen[3 * b + 1], screen[3 * c], screen[3 * c + 1]];
    const area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
    if (area >= 0) continue; // seen from behind: y grows downwards
    const [left, right] = [Math.max(0, Math.ceil(Math.min(ax, bx, cx) - 0.5)), Math.min(width - 1, Math.floor(Math.max(ax, bx, cx) - 0.5))];
    const [top, bottom] = [Math.max(0, Math.ceil(Math.min(ay, by, cy) - 0.5)), Math.min(height - 1, Math.floor(Math.max(ay, by, cy) - 0.5))];
    for (let y = top; y <= bottom; y += 1) {
      for (let x = left; x <= right; x += 1) {
        const [px, py] = [x + 0.5, y + 0.5];
        const u = ((bx - px) * (cy - py) - (cx - px) * (by - py)) / area;
        const v = ((cx - px) * (ay - py) - (ax - px) * (cy - py)) / area;
        const w = 1 - u - v;
        if (u < -1e-6 || v < -1e-6 || w < -1e-6) continue;
        const far = u * screen[3 * a + 2] + v * screen[3 * b + 2] + w * screen[3 * c + 2];
        const at = y * width + x;
        if (far <= depth[at]) continue;
        depth[at] = far;
        shown[at] = u > v && u > w ? a : v > w ? b : c;
        const light = u * shade[a] + v * shade[b] + w * shade[c];
        for (let k = 0; k < 3; k += 1) data[4 * at + k] = light * (u * colours[3 * a + k] + v * colours[3 * b + k] + w * colours[3 * c + k]);
        data[4 * at + 3] = 255;
      }
    }
  }
  return shown;
}

// The vertex of a half that is closest to a point, and how far it is.
function closest({ pial, n }, point) {
  let [best, least] = [-1, Infinity];
  for (let i = 0; i < n; i += 1) {
    const square = (pial[3 * i] - point[0]) ** 2 + (pial[3 * i + 1] - point[1]) ** 2 + (pial[3 * i + 2] - point[2]) ** 2;
    if (square < least) [best, least] = [i, square];
  }
  return { vertex: best, far: Math.sqrt(least) };
}

// Boxes of `n` views in as many columns as make them largest.
function boxes(n, width, height, margin, head) {
  const best = [1, 2, 4].map((across) => ({ across, down: Math.ceil(n / across) }))
    .map(({ across, down }) => ({ across, down, size: Math.min(width / across / 1.45, height / down) }))
    .sort((a, b) => b.size - a.size)[0];
  return Array.from({ length: n }, (_, i) => ({
    left: margin + (i % best.across) * (width / best.across), top: head + Math.floor(i / best.across) * (height / best.down),
    width: width / best.across - margin, height: height / best.down - 3 * margin,
  }));
}

// Draw maps on the cortex; gives panels that can tell which point of the brain is under a pixel.
export function drawSurface(context, scene, { width, height, margin, dpr }) {
  const { cortex, maps, scale, inflated, turn } = scene;
  if (!cortex) return [];
  const shownMaps = maps.length ? maps : [{}];
  const kind = inflated ? "inflated" : "pial";
  const views = shownMaps.flatMap((map, i) => (shownMaps.length > 1 ? VIEWS.slice(0, 2) : VIEWS).map((view) => ({ ...view, map, label: map.label, i })));
  const head = 40 * dpr; // for the caption, and the name of a view
  const places = boxes(views.length, width - margin, height - head, margin, head);
  return views.map((view, i) => {
    const half = cortex[view.half];
    const values = view.map.volume && valuesOn(cortex, view.map.volume, scene.image)[view.half];
    const angle = { azimuth: view.azimuth + turn[0], elevation: turn[1] };
    const found = drawHalf(context, half, kind, coloursOf(half, values, scale), angle, places[i]);
    const isTurned = turn[0] !== 0 || turn[1] !== 0;
    const name = [view.label, isTurned ? `${["left", "right"][view.half]}, turned` : view.name].filter(Boolean).join(": ");
    context.font = `${12 * dpr}px Inter, system-ui, sans-serif`;
    context.fillStyle = "#c3ced8";
    context.textAlign = "center";
    context.textBaseline = "top";
    context.fillText(name, places[i].left + places[i].width / 2, places[i].top - 16 * dpr);
    if (scene.crosshair && !scene.blank) markPlace(context, half, found, places[i], scene.at, dpr);
    return { ...places[i], plane: null, pick: picker(half, found, places[i]) };
  });
}

function markPlace(context, half, { shown, width, screen }, box, at, dpr) {
  const { vertex, far } = closest(half, at);
  const [x, y] = [screen[3 * vertex], screen[3 * vertex + 1]];
  const here = shown[Math.round(y) * width + Math.round(x)];
  const apart = here < 0 ? Infinity : Math.hypot(...[0, 1, 2].map((k) => half.inflated[3 * here + k] - half.inflated[3 * vertex + k]));
  if (far > TOO_FAR_MM || apart > HIDDEN_MM) return;
  context.strokeStyle = "#4fd1c4";
  context.lineWidth = 1.5 * dpr;
  context.beginPath();
  context.arc(box.left + x, box.top + y, 5 * dpr, 0, 2 * Math.PI);
  context.stroke();
}

const picker = (half, { shown, width }, { left, top }) => (x, y) => {
  const vertex = shown[Math.round(y - top) * width + Math.round(x - left)] ?? -1;
  return vertex < 0 || x < left || x >= left + width ? null : [0, 1, 2].map((k) => half.pial[3 * vertex + k]);
};
