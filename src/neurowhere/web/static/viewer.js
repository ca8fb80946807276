// Viewer: a map over the template, with NiiVue where there is WebGL2, else with pictures that the
// server draws. Both know the same few calls: show, style, view, moveTo, and tell onMove.

import { post } from "./api.js";
import { make } from "./dom.js";

// Anchors of the colour maps at equal distances; the server draws with the same ones.
export const COLOURS = {
  ember: [[60, 9, 60], [150, 24, 70], [225, 70, 48], [250, 150, 40], [255, 240, 150]],
  ice: [[10, 24, 80], [20, 80, 170], [40, 150, 215], [120, 215, 235], [225, 250, 255]],
  viridis: [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]],
};
const NEGATIVE = "ice";
export const LEVELS = [[95, 120, 190], [215, 85, 95], [255, 205, 90]]; // 95, 80 and 50 %
const CLEARER = [105, 150, 225]; // opacities of these levels, so that the anatomy shows through
const BRIGHTEST = 0.999; // share of the brain below the last colour
const BACKGROUND = [0, 0, 0, 1];
const FLOAT32 = 16; // of NIfTI
const NEWEST = 12; // maps that are kept

// `onLost` is called if the browser takes the graphics card away: go on with `createPictures`.
export function createViewer(stage, onMove, onLost) {
  const hasGl = "niivue" in window && Boolean(document.createElement("canvas").getContext("webgl2"));
  if (!hasGl) return createPictures(stage, onMove);
  const canvas = make("canvas", { id: "gl", "aria-label": "Brain map. Arrow keys move the crosshair." });
  canvas.addEventListener("webglcontextlost", onLost, { once: true });
  stage.prepend(canvas);
  return new Volumes(canvas, onMove);
}

export function createPictures(stage, onMove) {
  stage.querySelector("canvas")?.remove();
  return new Pictures(stage, onMove);
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
      crosshairWidth: 0.6,
      crosshairWidthUnit: "mm",
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
    const name = isSoft(this.nv.gl) ? "mni152-coarse" : "mni152";
    await this.nv.loadVolumes([{ url: `static/${name}.nii.gz`, colormap: "gray", cal_min: 25, cal_max: 255 }]);
    this.nv.setMultiplanarLayout(2); // a grid
    this.nv.setRenderAzimuthElevation(120, 15); // the left side, from the front
  }

  async show(kind, query, signal) {
    await this.ready;
    const key = keyOf(kind, query);
    if (!this.cache.has(key)) {
      this.cache.set(key, await this.#load(await post(`${kind}.nii.gz`, query, signal)));
      if (this.cache.size > NEWEST) this.cache.delete(this.cache.keys().next().value);
    }
    if (signal?.aborted) return null;
    if (this.nv.volumes.length > 1) this.nv.removeVolume(this.nv.volumes[1]);
    const { map, values } = this.cache.get(key);
    this.values = values;
    this.kind = query.image ?? "log_ratio";
    this.nv.addVolume(map);
    return this.#look();
  }

  // A map to draw, and the magnitudes of its voxels in order.
  async #load(answer) {
    const image = (file) => niivue.NVImage.loadFromFile({ file, name: file.name });
    const coarse = await image(new File([await answer.blob()], "map.nii.gz"));
    const values = Float32Array.from(coarse.img.filter((value) => value !== 0), Math.abs).sort();
    return { map: await image(new File([finer(coarse)], "map.nii")), values };
  }

  style(looks) {
    Object.assign(this.looks, looks);
    return this.nv.volumes.length > 1 ? this.#look() : null;
  }

  // Apply the looks to the map, and give its scale.
  #look() {
    const [, map] = this.nv.volumes;
    const levels = this.kind === "mass";
    const [low, high] = levels ? [0.5, 3] : scale(this.values, this.looks.hidden);
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

// Whether the browser draws without a graphics card, and would rather have fewer voxels.
function isSoft(gl) {
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  return Boolean(info) && /swiftshader|llvmpipe|software/i.test(gl.getParameter(info.UNMASKED_RENDERER_WEBGL));
}

// A colour map of NiiVue from anchors at equal distances.
function ramp(anchors) {
  return table(anchors, anchors.map((_, i) => Math.round((255 * i) / (anchors.length - 1))), anchors.map(() => 255));
}

// One colour for each level: 0.5 to 1.5 is the first, and so on up to 3.
function steps(colours) {
  const edges = [0, 0.4, 0.8];
  const at = edges.flatMap((edge, i) => [Math.round(255 * edge), Math.round(255 * (edges[i + 1] ?? 1)) - (i < 2)]);
  const twice = (values) => values.flatMap((value) => [value, value]);
  return table(twice(colours), at, twice(CLEARER));
}

// What is below the threshold has the number 0 and is clear.
function table([first, ...colours], [, ...at], opacities) {
  const all = [first, first, ...colours];
  return {
    R: all.map((colour) => colour[0]),
    G: all.map((colour) => colour[1]),
    B: all.map((colour) => colour[2]),
    A: [0, ...opacities],
    I: [0, 1, ...at],
  };
}

// Magnitudes of the first and of the last colour, from those of the brain in order.
function scale(magnitudes, hidden) {
  const at = (share) => magnitudes[Math.min(Math.floor(share * magnitudes.length), magnitudes.length - 1)] ?? 0;
  return [at(hidden), Math.max(at(BRIGHTEST), 1e-12)];
}

// The file of a map on a grid twice as fine, interpolated: NiiVue draws the nearest voxel of a map.
function finer({ img, hdr }) {
  let [values, dims] = [img, hdr.dims.slice(1, 4)];
  for (const axis of [0, 1, 2]) [values, dims] = doubled(values, dims, axis);
  const affine = hdr.affine.flatMap((row, i) => (i < 3 ? row.map((value, j) => (j < 3 ? value / 2 : value)) : row));
  return niivue.NVImage.createNiftiArray(dims, hdr.pixDims.slice(1, 4).map((mm) => mm / 2), affine, FLOAT32, values);
}

// Put the mean of any two neighbours along an axis between them.
function doubled(values, dims, axis) {
  const step = dims.slice(0, axis).reduce((product, n) => product * n, 1);
  const [n, wide] = [dims[axis], 2 * dims[axis] - 1];
  const fine = new Float32Array((values.length / n) * wide);
  for (let row = 0; row < values.length / (n * step); row += 1) {
    for (let i = 0; i < n; i += 1) {
      const from = (row * n + i) * step;
      const to = (row * wide + 2 * i) * step;
      for (let k = 0; k < step; k += 1) {
        fine[to + k] = values[from + k];
        if (i + 1 < n) fine[to + step + k] = (values[from + k] + values[from + step + k]) / 2;
      }
    }
  }
  return [fine, dims.map((size, i) => (i === axis ? wide : size))];
}

// Where the panels of the server's picture are: left, top, width and height in pixels of 1 mm,
// with the axes that run to the right and up, and the mm of the lower left corner.
const PANELS = [
  { left: 0, top: 0, width: 186, height: 160, axes: [1, 2], corner: [-110, -72] },
  { left: 186, top: 0, width: 152, height: 160, axes: [0, 2], corner: [-76, -72] },
  { left: 0, top: 160, width: 152, height: 186, axes: [0, 1], corner: [-76, -110] },
];
const SIZE = [338, 346];

class Pictures {
  constructor(stage, onMove) {
    this.onMove = onMove;
    this.at = [0, 0, 0];
    this.looks = { hidden: 0.9, opacity: 0.9, colours: "ember" };
    this.image = make("img", { id: "slices", alt: "Sections of the brain: sagittal, coronal and axial", draggable: "false" });
    const sides = ["sagittal", "coronal", "axial"].map((name) => make("b", { class: `side-of ${name}`, "aria-hidden": "true" }, name === "sagittal" ? "P" : "L"));
    this.hairs = PANELS.flatMap(() => [make("i", { class: "hair" }), make("i", { class: "hair" })]);
    const note = make("p", { class: "flat-note" }, "Drawn by the server: this browser has no WebGL2, which 3-D needs.");
    this.frame = make("div", { class: "pictures" }, this.image, ...sides, note, ...this.hairs);
    this.frame.addEventListener("click", (event) => this.#clicked(event));
    stage.prepend(this.frame);
    document.body.classList.add("flat"); // without the switch to 3-D
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
