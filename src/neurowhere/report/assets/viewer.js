// Viewer: maps over the template on a canvas, with a crosshair that mouse, touch and keys move.
// It draws by itself, without WebGL: the same picture in every browser, and in figures.

import { scaleOf } from "./colours.js";
import { make } from "./dom.js";
import { drawGlass } from "./glass.js";
import { BOX, arrange, drawHairs, drawSection, labels, pointUnder } from "./sections.js";
import { drawSolid, sideWords } from "./solid.js";

const WORDS = "Brain map. Left and right arrow keys move the crosshair left and right, up and down move it to the front and the back, page up and page down move it up and down; with Shift by a centimetre. In the 3-D view, arrow keys turn the cortex. V changes the view.";
const STEP_MM = 2;
const LONG_STEP_MM = 10;
const KEYS = {
  ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowDown: [1, -1], ArrowUp: [1, 1], PageDown: [2, -1], PageUp: [2, 1],
};
const TURN_DEGREES = 10; // of a key
const COARSE = 1; // pixels per mm while the crosshair is dragged
const MARGIN = 6; // CSS pixels around the panels
const INK = "#c3ced8";
const FONT = "12px Inter, system-ui, sans-serif";

export class Viewer {
  // `surface` draws the cortex that `loadCortex` promises, where there is one.
  constructor(stage, { onMove, onView, onHover, onPick = () => {}, surface, loadCortex }) {
    this.canvas = make("canvas", { id: "map", tabindex: "0", role: "application", "aria-label": WORDS });
    stage.prepend(this.canvas);
    this.onMove = onMove;
    this.onView = onView;
    this.onHover = onHover;
    this.onPick = onPick;
    this.loadCortex = loadCortex;
    this.scene = { template: null, maps: [], image: "density", scale: null, at: [0, 0, 0], view: "slices", crosshair: true, outline: null, cortex: null, inflated: true, turn: [0, 0], small: [-65, 20] };
    this.looks = { hidden: 0.9, opacity: 0.9, colours: "ember" };
    this.views = { slices: drawSlices, glass: drawGlass, surface };
    this.#listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  // Change what is shown; the scale follows the maps and the looks.
  set(changes) {
    Object.assign(this.scene, changes);
    if (this.scene.view === "surface") this.#needCortex();
    const volumes = this.scene.maps.map(({ volume }) => volume);
    this.scene.scale = volumes.length ? scaleOf(volumes, this.scene.image, { ...this.looks, ...(this.scene.colours && { colours: this.scene.colours }) }) : null;
    this.draw();
    return this.scene.scale;
  }

  #needCortex() {
    this.loading ??= this.loadCortex().then((cortex) => this.set({ cortex })).catch(() => { this.loading = null; });
  }

  style(looks) {
    Object.assign(this.looks, looks);
    return this.set({});
  }

  moveTo(point, { quietly = false } = {}) {
    const at = point.map((value, axis) => Math.round(Math.min(Math.max(value, BOX[axis][0] + 0.5), BOX[axis][0] + BOX[axis][1] - 0.5)));
    this.set({ at });
    if (!quietly) this.onMove(at);
  }

  // Move to a place, and look at the whole brain from its side.
  lookAt(point) {
    this.scene.small = [point[0] > 4 ? 65 : -65, 20];
    this.moveTo(point);
  }

  draw(finest) {
    if (this.planned) cancelAnimationFrame(this.planned);
    this.canvas.dataset.pending = "yes"; // until the picture is what the scene says
    this.planned = requestAnimationFrame(() => this.#drawNow(finest));
  }

  #drawNow(finest) {
    this.planned = null;
    delete this.canvas.dataset.pending;
    const { canvas, scene } = this;
    const dpr = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(canvas.clientWidth * dpr), Math.round(canvas.clientHeight * dpr)];
    if (!width || !height) return;
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext("2d");
    context.clearRect(0, 0, width, height);
    if (!scene.template && (scene.view !== "slices" || !scene.maps.length)) return;
    this.panels = this.views[scene.view](context, scene, { width, height, margin: MARGIN * dpr, dpr, finest });
    canvas.dataset.drawn = String(Number(canvas.dataset.drawn ?? 0) + 1);
  }

  #listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const turns = this.scene.view === "surface" ? "turn" : this.#panelUnder(event)?.isSolid ? "small" : null;
      this.pressed = { x: event.clientX, y: event.clientY, turns, from: this.scene[turns], moved: false };
      if (event.pointerType === "touch" && !turns) return; // a tap: see below; else the page scrolls
      this.dragged = true;
      canvas.setPointerCapture(event.pointerId);
      if (!turns) this.#follow(event);
    });
    canvas.addEventListener("pointerleave", () => this.onHover(null));
    canvas.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse") this.#tellUnder(event);
      if (!this.dragged) return;
      if (this.pressed.turns) this.#rotate(event);
      else this.#follow(event);
    });
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, () => { if (this.dragged) { this.dragged = false; this.draw(); } });
    }
    canvas.addEventListener("click", (event) => {
      if (this.pressed?.moved) return; // it was turned
      const isTap = event.pointerType === "touch" || this.pressed?.turns;
      if (isTap) this.#follow(event);
      this.onPick();
    });
    canvas.addEventListener("keydown", (event) => this.#press(event));
    canvas.addEventListener("wheel", (event) => this.#scroll(event), { passive: false });
  }

  #tellUnder(event) {
    const box = this.canvas.getBoundingClientRect();
    const found = this.dragged ? null : this.#under(event);
    this.onHover(found?.point ?? null, event.clientX - box.left, event.clientY - box.top, found?.map);
  }

  // The place of a pointer in the pixels of the canvas.
  #pixel(event) {
    const box = this.canvas.getBoundingClientRect();
    const dpr = this.canvas.width / box.width;
    return [(event.clientX - box.left) * dpr, (event.clientY - box.top) * dpr];
  }

  #panelUnder(event) {
    const [x, y] = this.#pixel(event);
    return (this.panels ?? []).find(({ left, top, width, height }) => x >= left && x < left + width && y >= top && y < top + height);
  }

  #under(event) {
    const [x, y] = this.#pixel(event);
    if (this.#panelUnder(event)?.isSolid) {
      const point = this.#panelUnder(event).pick?.(x, y);
      return point ? { point, plane: null, map: this.#panelUnder(event).map } : null;
    }
    for (const { pick } of this.panels ?? []) {
      const point = pick?.(x, y);
      if (point) return { point, plane: null };
    }
    return pointUnder(this.panels ?? [], x, y, this.scene.at);
  }

  // Turn the surface as far as it is dragged.
  #rotate(event) {
    const { x, y, turns, from } = this.pressed;
    const [over, under] = [event.clientX - x, event.clientY - y];
    if (Math.abs(over) + Math.abs(under) < 4) return;
    this.pressed.moved = true;
    this.#turnTo(turns, [from[0] - over / 2, from[1] + under / 2]);
  }

  #turnTo(which, [azimuth, elevation]) {
    this.set({ [which]: [azimuth, Math.min(Math.max(elevation, -90), 90)] });
  }

  #follow(event) {
    const found = this.#under(event);
    if (!found) return;
    this.moveTo(found.point);
    if (this.dragged) this.draw(COARSE);
  }

  #press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.toLowerCase() === "v") { this.onView(); return; }
    const move = KEYS[event.key];
    if (!move) return;
    event.preventDefault();
    if (this.scene.view === "surface" && move[0] < 2) {
      const [azimuth, elevation] = this.scene.turn;
      this.#turnTo("turn", move[0] ? [azimuth, elevation + TURN_DEGREES * move[1]] : [azimuth - TURN_DEGREES * move[1], elevation]);
      return;
    }
    const at = [...this.scene.at];
    at[move[0]] += move[1] * (event.shiftKey ? LONG_STEP_MM : STEP_MM);
    this.moveTo(at);
  }

  // The wheel steps through a plane once the map has been clicked; until then the page scrolls.
  #scroll(event) {
    const found = document.activeElement === this.canvas && !event.ctrlKey && this.#under(event);
    if (!found?.plane) return;
    event.preventDefault();
    const at = [...this.scene.at];
    at[found.plane.cut] += event.deltaY > 0 ? -STEP_MM : STEP_MM;
    this.moveTo(at);
  }
}

// Three sections of each map, and what lies beyond them in a free corner; gives the panels.
export function drawSlices(context, scene, { width, height, margin, dpr, finest, bare }) {
  const head = (scene.maps.length > 1 ? 34 : 14) * dpr; // for the caption, and the name of the first map
  const { panels } = arrange(Math.max(scene.maps.length, 1), width - 2 * margin, height - 2 * margin - head);
  for (const panel of panels) {
    panel.left += margin;
    panel.top += margin + head;
    if (panel.isSolid) panel.pick = drawSolid(context, scene, panel);
    else drawSection(context, { ...scene, volume: scene.maps[panel.map]?.volume }, panel, finest);
    if (bare || scene.blank) continue; // lines and words are added by others, or would be of nothing
    if (panel.isSolid) {
      drawLabels(context, [[`${sideWords(scene.small)} · drag to turn`, panel.left, panel.top + panel.height, "left"]], dpr);
      continue;
    }
    if (scene.crosshair) drawHairs(context, panel, scene.at, dpr);
    const words = labels(panel, scene.at, 12 * dpr);
    const { label } = scene.maps[panel.map] ?? {};
    if (label && panel.plane.cut === 0) words.push([label, panel.left, panel.top - 1 * dpr, "left"]);
    drawLabels(context, words, dpr);
  }
  return panels;
}

// Words beside the pointer, within the stage; without any, it is hidden.
export function showTip(tip, words, left, top) {
  tip.hidden = !words.length;
  if (tip.hidden) return;
  tip.textContent = words.join(" · ");
  const { clientWidth, clientHeight } = tip.parentElement;
  tip.style.left = `${Math.min(left + 14, clientWidth - tip.offsetWidth - 6)}px`;
  tip.style.top = `${Math.min(top + 18, clientHeight - tip.offsetHeight - 6)}px`;
}

function drawLabels(context, words, dpr) {
  context.font = FONT.replace("12px", `${12 * dpr}px`);
  context.fillStyle = INK;
  context.textBaseline = "bottom";
  for (const [text, x, y, align] of words) {
    context.textAlign = align;
    context.fillText(text, x, y);
  }
}
