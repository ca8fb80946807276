// Viewer: a map over the template, with NiiVue where there is WebGL2, else with pictures that the
// server draws. Both know the same few calls: show, style, view, moveTo, and tell onMove.

import { post } from "/static/api.js";
import { make } from "/static/dom.js";

// Anchors of the colour maps at equal distances; the server draws with the same ones.
export const COLOURS = {
  ember: [[60, 9, 60], [150, 24, 70], [225, 70, 48], [250, 150, 40], [255, 240, 150]],
  ice: [[10, 24, 80], [20, 80, 170], [40, 150, 215], [120, 215, 235], [225, 250, 255]],
  viridis: [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]],
};
const NEGATIVE = "ice";
export const LEVELS = [[70, 90, 150], [200, 80, 90], [255, 205, 90]]; // 95, 80 and 50 %
const BRIGHTEST = 0.999; // share of the brain below the last colour
const BACKGROUND = [0.035, 0.05, 0.066, 1];
const NEWEST = 24; // maps that are kept

export function createViewer(stage, onMove) {
  const canvas = make("canvas", { id: "gl", "aria-label": "Brain map. Arrow keys move the crosshair." });
  const hasGl = "niivue" in window && Boolean(document.createElement("canvas").getContext("webgl2"));
  if (!hasGl) return new Pictures(stage, onMove);
  stage.prepend(canvas);
  return new Volumes(canvas, onMove);
}

// What a query for an image depends on, as a key.
const keyOf = (kind, query) => `${kind} ${JSON.stringify(query)}`;

class Volumes {
  constructor(canvas, onMove) {
    this.canvas = canvas;
    this.looks = { hidden: 0.9, opacity: 0.9, colours: "ember" };
    this.cache = new Map();
    this.nv = new niivue.Niivue({
      backColor: BACKGROUND,
      crosshairColor: [0.31, 0.82, 0.77, 0.9],
      crosshairWidth: 0.75,
      dragAndDropEnabled: false,
      isColorbar: false,
      isOrientationTextVisible: true,
      fontColor: [0.75, 0.8, 0.85, 1],
      multiplanarForceRender: true,
      show3Dcrosshair: true,
      tileMargin: 6,
      logLevel: "silent",
    });
    this.nv.onLocationChange = (where) => onMove([...where.mm].slice(0, 3).map(Math.round));
    this.ready = this.#start();
  }

  async #start() {
    await this.nv.attachToCanvas(this.canvas);
    for (const [name, anchors] of Object.entries(COLOURS)) this.nv.addColormap(name, ramp(anchors));
    this.nv.addColormap("levels", steps(LEVELS));
    await this.nv.loadVolumes([{ url: "/static/mni152.nii.gz", colormap: "gray", cal_min: 25, cal_max: 255 }]);
    this.nv.setMultiplanarLayout(2); // a grid
    this.nv.setRenderAzimuthElevation(235, 20);
  }

  async show(kind, query, signal) {
    await this.ready;
    const key = keyOf(kind, query);
    if (!this.cache.has(key)) {
      const answer = await post(`${kind}.nii.gz`, query, signal);
      this.cache.set(key, new File([await answer.blob()], "map.nii.gz"));
      if (this.cache.size > NEWEST) this.cache.delete(this.cache.keys().next().value);
    }
    const map = await niivue.NVImage.loadFromFile({ file: this.cache.get(key), name: "map.nii.gz" });
    if (signal?.aborted) return null;
    if (this.nv.volumes.length > 1) this.nv.removeVolume(this.nv.volumes[1]);
    this.kind = query.image ?? "log_ratio";
    this.nv.addVolume(map);
    return this.#look();
  }

  style(looks) {
    Object.assign(this.looks, looks);
    return this.nv.volumes.length > 1 ? this.#look() : null;
  }

  // Apply the looks to the map, and give its scale.
  #look() {
    const [, map] = this.nv.volumes;
    const levels = this.kind === "mass";
    const [low, high] = levels ? [0.5, 3] : scale(map.img, this.looks.hidden);
    const signed = this.kind === "log_ratio";
    map.opacity = this.looks.opacity;
    map.colormap = levels ? "levels" : this.looks.colours;
    map.colormapNegative = signed ? NEGATIVE : "";
    [map.cal_min, map.cal_max] = [low, high];
    [map.cal_minNeg, map.cal_maxNeg] = [-low, -high];
    this.nv.updateGLVolume();
    return { low, high };
  }

  view(name) {
    const { sliceTypeMultiplanar, sliceTypeRender } = this.nv;
    this.nv.setSliceType(name === "render" ? sliceTypeRender : sliceTypeMultiplanar);
  }

  async moveTo(at) {
    await this.ready;
    this.nv.scene.crosshairPos = this.nv.mm2frac(at);
    this.nv.drawScene();
    this.nv.createOnLocationChange();
  }
}

// A colour map of NiiVue from anchors; all but the first colour are opaque.
function ramp(anchors) {
  const at = anchors.map((_, i) => Math.round((255 * i) / (anchors.length - 1)));
  return table(anchors, at);
}

// One colour for each level: 0.5 to 1.5 is the first, and so on up to 3.
function steps(colours) {
  const edges = [0, 0.4, 0.8];
  const at = edges.flatMap((edge, i) => [Math.round(255 * edge), Math.round(255 * (edges[i + 1] ?? 1)) - (i < 2)]);
  return table(colours.flatMap((colour) => [colour, colour]), at);
}

const table = (colours, at) => ({
  R: colours.map((colour) => colour[0]),
  G: colours.map((colour) => colour[1]),
  B: colours.map((colour) => colour[2]),
  A: colours.map(() => 255),
  I: at,
});

// Magnitudes of the first and of the last colour, from those of the brain.
function scale(values, hidden) {
  const magnitudes = Float32Array.from(values.filter((value) => value !== 0), Math.abs).sort();
  const at = (share) => magnitudes[Math.min(Math.floor(share * magnitudes.length), magnitudes.length - 1)] ?? 0;
  return [at(hidden), Math.max(at(BRIGHTEST), 1e-12)];
}

// Where the panels of the server's picture are: left, top, width and height in pixels of 1 mm,
// with the axes that run to the right and up, and the mm of the lower left corner.
const PANELS = [
  { left: 0, top: 0, width: 233, height: 189, axes: [1, 2], corner: [-134, -72] },
  { left: 233, top: 0, width: 197, height: 189, axes: [0, 2], corner: [-98, -72] },
  { left: 0, top: 189, width: 197, height: 233, axes: [0, 1], corner: [-98, -134] },
];
const SIZE = [430, 422];

class Pictures {
  constructor(stage, onMove) {
    this.onMove = onMove;
    this.at = [0, 0, 0];
    this.looks = { hidden: 0.9, opacity: 0.9, colours: "ember" };
    this.ready = Promise.resolve();
    this.image = make("img", { id: "slices", alt: "Sections of the brain: sagittal, coronal and axial", draggable: "false" });
    this.hairs = PANELS.flatMap(() => [make("i", { class: "hair" }), make("i", { class: "hair" })]);
    this.frame = make("div", { class: "pictures" }, this.image, ...this.hairs);
    this.frame.addEventListener("click", (event) => this.#clicked(event));
    stage.prepend(this.frame);
    stage.classList.add("flat");
  }

  async show(kind, query, signal) {
    this.query = [kind, query];
    await this.#draw(signal);
    return { low: null, high: null };
  }

  style(looks) {
    Object.assign(this.looks, looks);
    this.#redraw();
    return { low: null, high: null };
  }

  view() {}

  async moveTo(at) {
    this.at = at;
    this.#redraw();
    this.onMove(at.map(Math.round));
  }

  #redraw() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#draw().catch(() => {}), 60);
  }

  async #draw(signal) {
    if (!this.query) return;
    const [kind, query] = this.query;
    const answer = await post(`${kind}.png`, { ...query, ...this.looks, style: "slices", at: this.at }, signal);
    const address = URL.createObjectURL(await answer.blob());
    this.image.onload = () => URL.revokeObjectURL(address);
    this.image.src = address;
    this.#cross();
  }

  #cross() {
    PANELS.forEach(({ left, top, width, height, axes, corner }, i) => {
      const [across, up] = axes.map((axis, k) => this.at[axis] - corner[k]);
      const x = left + Math.min(Math.max(across, 0), width);
      const y = top + height - Math.min(Math.max(up, 0), height);
      place(this.hairs[2 * i], x, top, 0, height);
      place(this.hairs[2 * i + 1], left, y, width, 0);
    });
  }

  #clicked(event) {
    const box = this.image.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * SIZE[0];
    const y = ((event.clientY - box.top) / box.height) * SIZE[1];
    const panel = PANELS.find(({ left, top, width, height }) =>
      x >= left && x < left + width && y >= top && y < top + height);
    if (!panel) return;
    const at = [...this.at];
    at[panel.axes[0]] = panel.corner[0] + (x - panel.left);
    at[panel.axes[1]] = panel.corner[1] + (panel.top + panel.height - y);
    this.moveTo(at);
  }
}

function place(hair, left, top, width, height) {
  const share = (value, whole) => `${(100 * value) / whole}%`;
  hair.style.left = share(left, SIZE[0]);
  hair.style.top = share(top, SIZE[1]);
  hair.style.width = width ? share(width, SIZE[0]) : "1px";
  hair.style.height = height ? share(height, SIZE[1]) : "1px";
}
