// The viewer of a report: three slices through the brain on canvas. No library, no network.
"use strict";

// Axes (0 x, 1 y, 2 z) that run across the screen, up the screen, and into it.
const PLANES = {
  coronal: { across: 0, up: 2, into: 1 },
  sagittal: { across: 1, up: 2, into: 0 },
  axial: { across: 0, up: 1, into: 2 },
};
const PIXEL_MM = 0.5; // of the slices that are computed; canvas scales them
const STEP_MM = 2, LEAP_MM = 10; // of the arrow keys, without and with Shift
const FADE = 0.15; // share of the range above the threshold in which colours fade in
const OPACITY = 0.9;
const HALF = 0.5 + 1e-9; // an inverse affine misplaces exact ties by a few ulp
const BRIGHTEST_GREY = 190; // of the template, so that the map outshines it
const CROSS_COLOUR = "rgba(255, 255, 255, 0.55)", LABEL_COLOUR = "rgba(255, 255, 255, 0.75)";
const LABEL_FONT = "600 12px system-ui, sans-serif";

// Colours from weak to strong, as the page of the server has them.
const RAISED = gradient(["#3c093c", "#961846", "#e14630", "#fa9628", "#fff096"]);
const LOWERED = gradient(["#101c46", "#183880", "#2c62b2", "#609cd6"]);
const GREY = gradient(["#5a6068", "#969ca2", "#d7dbdf"]); // of a map that says nothing
const MASS_OPACITY = 0.9;
const MASS = { 50: [255, 190, 112], 80: [206, 104, 30], 95: [122, 58, 20] };
const BRIGHTEST = 0.999; // share of the brain below the last colour
const PERCENT_PER_CM3 = 1e5; // of a density in mm⁻³

/** A volume of numbers, read at points in mm. */
class Volume {
  constructor({ shape, inverse, scale }, values) {
    [this.nx, this.ny, this.nz] = shape;
    this.inverse = inverse; // mm to voxels, three rows of a matrix
    this.scale = scale;
    this.values = values;
  }

  at(i, j, k) {
    const inside = i >= 0 && j >= 0 && k >= 0 && i < this.nx && j < this.ny && k < this.nz;
    return inside ? this.values[(i * this.ny + j) * this.nz + k] : 0;
  }

  /** Value of the voxel whose cell holds the point. */
  nearest(x, y, z) {
    const [a, b, c] = this.inverse;
    const i = Math.floor(a[0] * x + a[1] * y + a[2] * z + a[3] + HALF);
    const j = Math.floor(b[0] * x + b[1] * y + b[2] * z + b[3] + HALF);
    const k = Math.floor(c[0] * x + c[1] * y + c[2] * z + c[3] + HALF);
    return this.at(i, j, k) * this.scale;
  }

  /** Value between the eight voxels around the point. */
  between(x, y, z) {
    const [a, b, c] = this.inverse;
    let i = a[0] * x + a[1] * y + a[2] * z + a[3];
    let j = b[0] * x + b[1] * y + b[2] * z + b[3];
    let k = c[0] * x + c[1] * y + c[2] * z + c[3];
    const i0 = Math.floor(i), j0 = Math.floor(j), k0 = Math.floor(k);
    i -= i0, j -= j0, k -= k0;
    let sum = 0;
    for (let corner = 0; corner < 8; corner++) {
      const p = corner & 1, q = (corner >> 1) & 1, r = corner >> 2;
      const weight = (p ? i : 1 - i) * (q ? j : 1 - j) * (r ? k : 1 - k);
      if (weight) sum += weight * this.at(i0 + p, j0 + q, k0 + r);
    }
    return sum * this.scale;
  }
}

/** Numbers of a volume from base64 of gzip. */
async function readVolume(packed) {
  const bytes = Uint8Array.from(atob(packed.data), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  return new Volume(packed, packed.bytes === 2 ? new Uint16Array(buffer) : new Uint8Array(buffer));
}

/** Table of 256 colours between the given ones. */
function gradient(stops) {
  const colours = stops.map((stop) => [1, 3, 5].map((at) => parseInt(stop.slice(at, at + 2), 16)));
  return Array.from({ length: 256 }, (_, number) => {
    const place = (number / 255) * (colours.length - 1);
    const first = Math.min(Math.floor(place), colours.length - 2);
    const share = place - first;
    return colours[first].map((c, channel) => c + share * (colours[first + 1][channel] - c));
  });
}

/** What can be shown: how a value is made of density and mean, and how it is coloured.
 *  Densities are in multiples of the uniform one. */
function makeLayers(levels, isAverage) {
  const byStrength = (value, threshold, highest, colours) => {
    const share = (value - threshold) / (highest - threshold || 1);
    if (!(share > 0)) return null;
    return [colours[Math.min(255, Math.round(share * 255))], Math.min(1, share / FADE)];
  };
  return {
    density: {
      value: (density) => density,
      colour: (value, threshold, highest) => byStrength(value, threshold, highest, isAverage ? GREY : RAISED),
    },
    ratio: {
      value: (density, mean) => Math.log1p(density) - Math.log1p(mean),
      colour: (value, threshold, highest) =>
        byStrength(Math.abs(value), threshold, highest, value > 0 ? RAISED : LOWERED),
    },
    mass: {
      value: (density) => density,
      colour: (value) => {
        const share = Object.keys(levels).find((name) => value >= levels[name] && value > 0);
        return share ? [MASS[share], MASS_OPACITY] : null;
      },
    },
  };
}

class Viewer {
  constructor(root, data, volumes) {
    this.root = root;
    this.data = data;
    Object.assign(this, volumes); // template, density, mean, atlas
    this.layers = makeLayers(data.levels, data.average);
    this.ranges = { density: this.sorted("density"), ratio: this.sorted("ratio"), mass: [0] };
    this.layer = root.querySelector("input[name=layer]:checked").value;
    this.strongest = 0.1;
    this.place = [...data.place];
    this.find = (name) => root.querySelector(`[data-part="${name}"]`);
    for (const name of Object.keys(PLANES)) this.listen(name);
    this.listenToControls();
    new ResizeObserver(() => this.draw()).observe(root);
  }

  /** Absolute values of a layer in the brain, in increasing order. */
  sorted(layer) {
    const { density, mean } = this;
    const values = [];
    for (let n = 0; n < density.values.length; n++) {
      const q = density.values[n] * density.scale, base = mean.values[n] * mean.scale;
      if (q || base) values.push(Math.abs(this.layers[layer].value(q, base)));
    }
    return Float32Array.from(values).sort();
  }

  /** Threshold and highest value of the shown layer. */
  range() {
    const values = this.ranges[this.layer];
    const first = Math.min(values.length - 1, Math.floor((1 - this.strongest) * values.length));
    return [this.strongest >= 1 ? 0 : values[first], values[Math.floor(BRIGHTEST * (values.length - 1))]];
  }

  listen(name) {
    const canvas = this.find(name), plane = PLANES[name];
    const point = (event) => {
      const box = canvas.getBoundingClientRect();
      const place = [...this.place];
      const [left, right] = this.data.box[plane.across], [bottom, top] = this.data.box[plane.up];
      place[plane.across] = left + ((event.clientX - box.left) / box.width) * (right - left);
      place[plane.up] = top - ((event.clientY - box.top) / box.height) * (top - bottom);
      this.moveTo(place);
    };
    canvas.addEventListener("click", point);
    canvas.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse" && event.buttons === 1) point(event);
    });
    canvas.addEventListener("keydown", (event) => {
      const [axis, sign] = {
        ArrowLeft: [plane.across, -1], ArrowRight: [plane.across, 1],
        ArrowDown: [plane.up, -1], ArrowUp: [plane.up, 1],
        PageDown: [plane.into, -1], PageUp: [plane.into, 1],
      }[event.key] || [];
      if (axis === undefined) return;
      event.preventDefault();
      const place = [...this.place];
      place[axis] += sign * (event.shiftKey ? LEAP_MM : STEP_MM);
      this.moveTo(place);
    });
  }

  listenToControls() {
    for (const input of this.root.querySelectorAll("input[name=layer]"))
      input.addEventListener("change", () => {
        this.layer = input.value;
        this.draw();
      });
    const slider = this.find("strongest");
    slider.addEventListener("input", () => {
      this.strongest = Number(slider.value) / 100;
      this.draw();
    });
    ["x", "y", "z"].forEach((name, axis) =>
      this.find(name).addEventListener("change", (event) => {
        const place = [...this.place];
        place[axis] = Number(event.target.value) || 0;
        this.moveTo(place);
      }));
    for (const button of document.querySelectorAll("[data-place]"))
      button.addEventListener("click", () => {
        this.moveTo(button.dataset.place.split(" ").map(Number));
        this.root.scrollIntoView({ block: "nearest" });
      });
  }

  /** Move the crosshair to a place in whole mm within the box. */
  moveTo(place) {
    this.place = place.map((mm, axis) => {
      const [lowest, highest] = this.data.box[axis];
      return Math.round(Math.min(highest, Math.max(lowest, mm))) + 0; // no -0
    });
    if (!this.waiting) {
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        this.draw();
      });
    }
    this.tell();
  }

  draw() {
    const [threshold, highest] = this.range();
    for (const name of Object.keys(PLANES)) this.drawSlice(name, threshold, highest);
    this.drawBar(threshold, highest);
    this.find("strongest").disabled = this.layer === "mass";
    this.find("share").textContent = `${Math.round(this.strongest * 100)} %`;
  }

  drawSlice(name, threshold, highest) {
    const canvas = this.find(name), plane = PLANES[name];
    const [left, right] = this.data.box[plane.across], [bottom, top] = this.data.box[plane.up];
    const width = Math.round((right - left) / PIXEL_MM), height = Math.round((top - bottom) / PIXEL_MM);
    const image = new ImageData(width, height);
    const { value, colour } = this.layers[this.layer];
    const read = this.data.smooth ? "between" : "nearest";
    const place = [...this.place];
    for (let row = 0, at = 0; row < height; row++) {
      place[plane.up] = top - (row + 0.5) * PIXEL_MM;
      for (let column = 0; column < width; column++, at += 4) {
        place[plane.across] = left + (column + 0.5) * PIXEL_MM;
        const [x, y, z] = place;
        const grey = this.template.between(x, y, z);
        const density = this.density[read](x, y, z);
        let red = grey * BRIGHTEST_GREY, green = red, blue = red;
        const painted = colour(value(density, this.mean[read](x, y, z)), threshold, highest);
        if (painted) {
          const [ink, strength] = painted, alpha = strength * OPACITY;
          red += alpha * (ink[0] - red), green += alpha * (ink[1] - green), blue += alpha * (ink[2] - blue);
        }
        image.data[at] = red, image.data[at + 1] = green, image.data[at + 2] = blue;
        image.data[at + 3] = 255;
      }
    }
    this.paint(canvas, image, plane);
  }

  /** Scale a slice to the canvas, and draw crosshair and letters over it. */
  paint(canvas, image, plane) {
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(canvas.clientWidth * scale);
    canvas.height = Math.round((canvas.width * image.height) / image.width);
    const sheet = document.createElement("canvas");
    sheet.width = image.width, sheet.height = image.height;
    sheet.getContext("2d").putImageData(image, 0, 0);
    const pen = canvas.getContext("2d");
    pen.imageSmoothingQuality = "high";
    pen.drawImage(sheet, 0, 0, canvas.width, canvas.height);
    pen.scale(scale, scale);
    const width = canvas.width / scale, height = canvas.height / scale;
    const [left, right] = this.data.box[plane.across], [bottom, top] = this.data.box[plane.up];
    const x = ((this.place[plane.across] - left) / (right - left)) * width;
    const y = ((top - this.place[plane.up]) / (top - bottom)) * height;
    const gap = 5; // the place itself stays free
    pen.strokeStyle = CROSS_COLOUR;
    pen.beginPath();
    for (const [from, to] of [[0, x - gap], [x + gap, width]]) pen.moveTo(from, y), pen.lineTo(to, y);
    for (const [from, to] of [[0, y - gap], [y + gap, height]]) pen.moveTo(x, from), pen.lineTo(x, to);
    pen.stroke();
    pen.fillStyle = LABEL_COLOUR;
    pen.font = LABEL_FONT;
    const at = String(this.place[plane.into]).replace("-", "−");
    pen.fillText(`${"xyz"[plane.into]} = ${at}`, 8, height - 8);
    if (plane.across === 0) {
      pen.fillText("L", 8, 18);
      pen.fillText("R", width - 17, 18);
    } else {
      pen.fillText("P", 8, 18);
      pen.fillText("A", width - 17, 18);
    }
  }

  /** Draw the colours with what they stand for. */
  drawBar(threshold, highest) {
    const canvas = this.find("bar"), pen = canvas.getContext("2d");
    const { width, height } = canvas;
    pen.clearRect(0, 0, width, height);
    const [low, high] = this.layer === "ratio" ? [-highest, highest] : [0, highest];
    for (let x = 0; x < width && this.layer !== "mass"; x++) {
      const painted = this.layers[this.layer].colour(low + ((x + 0.5) / width) * (high - low), threshold, highest);
      if (!painted) continue;
      pen.fillStyle = `rgba(${painted[0].map(Math.round).join()}, ${painted[1]})`;
      pen.fillRect(x, 0, 1, height);
    }
    const shares = Object.keys(this.data.levels).reverse();
    if (this.layer === "mass")
      shares.forEach((share, number) => {
        pen.fillStyle = `rgb(${MASS[share].join()})`;
        pen.fillRect((number * width) / shares.length, 0, width / shares.length - 2, height);
      });
    const labels = {
      density: ["0", `≥ ${short(this.percent(high))} % of peaks per cm³`],
      ratio: [`≤ ×${short(Math.exp(-high))}`, `×1, as in the ${this.root.dataset.reference}`, `≥ ×${short(Math.exp(high))}`],
      mass: shares.map((share) => `${share} % of peaks`),
    }[this.layer];
    this.find("scale").replaceChildren(...labels.map((words) => element("span", words)));
  }

  /** A density in multiples of the uniform one as people read it. */
  percent(density) {
    return density * this.data.uniform * PERCENT_PER_CM3;
  }

  /** Say what is at the crosshair. */
  tell() {
    const [x, y, z] = this.place;
    ["x", "y", "z"].forEach((name, axis) => (this.find(name).value = this.place[axis]));
    const density = this.density.nearest(x, y, z), mean = this.mean.nearest(x, y, z);
    const inside = density > 0 || mean > 0;
    const number = this.atlas ? this.atlas.nearest(x, y, z) : 0; // 0 is outside
    const region = number ? this.data.regions[number - 1] : null;
    this.find("region").textContent = region ? region.name : inside ? "no named region" : "outside the brain";
    this.find("region").title = region ? region.label : "";
    this.find("density").textContent = inside ? `${short(this.percent(density))} %` : "–";
    this.find("absolute").textContent = inside ? "of peaks per cm³" : "";
    this.find("ratio").textContent = mean > 0 ? `×${short(density / mean)}` : "–";
    const level = Object.keys(this.data.levels).find((share) => inside && density >= this.data.levels[share]);
    this.find("mass").textContent = level ? `${level} % region` : "";
    this.find("mass").hidden = !level;
    this.tellWhy(region);
    for (const button of document.querySelectorAll("[data-place]"))
      button.toggleAttribute("data-here", button.dataset.place === this.place.join(" "));
  }

  tellWhy(region) {
    const items = ((region && region.why) || []).map(([term, value]) => {
      const item = element("li", `${term} `);
      item.className = value > 0 ? "raises" : "lowers";
      item.append(element("b", `${value > 0 ? "+" : "−"}${Math.abs(value).toFixed(2)}`));
      return item;
    });
    this.find("why").replaceChildren(...items);
    this.find("reasons").hidden = !items.length;
  }
}

/** An element that holds text, never markup. */
function element(tag, words) {
  const made = document.createElement(tag);
  made.textContent = words;
  return made;
}

/** Two digits, or as many as stand before the point. */
function short(value) {
  return value >= 10 ? value.toFixed(0) : value.toPrecision(2);
}

async function start() {
  const root = document.getElementById("viewer");
  const data = JSON.parse(document.getElementById("viewer-data").textContent);
  const names = Object.keys(data.volumes);
  const volumes = await Promise.all(names.map((name) => readVolume(data.volumes[name])));
  const viewer = new Viewer(root, data, Object.fromEntries(names.map((name, n) => [name, volumes[n]])));
  root.classList.add("live");
  viewer.moveTo(data.place);
}

start();
