// Colours: from values to colours, for slices, surfaces, legends and figures alike.

// Anchors of the colour maps at equal distances; the server draws with the same ones.
export const COLOURS = {
  ember: [[60, 9, 60], [150, 24, 70], [225, 70, 48], [250, 150, 40], [255, 240, 150]],
  ice: [[10, 24, 80], [20, 80, 170], [40, 150, 215], [120, 215, 235], [225, 250, 255]],
  viridis: [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]],
  cold: [[16, 28, 70], [24, 56, 128], [44, 98, 178], [96, 156, 214]], // calm: it says where a text does not point
  grey: [[90, 96, 104], [150, 156, 162], [215, 219, 223]], // of a map that says nothing
};
export const NEGATIVE = "cold";
export const LEVELS = [[122, 58, 20], [206, 104, 30], [255, 190, 112]]; // 95, 80 and 50 %
export const LEVEL_NAMES = ["95 %", "80 %", "50 %"];
const BRIGHTEST = 0.999; // share of the brain below the last colour
const SHADES = 256;
const FADE = 0.15; // of the colours, above the threshold, that become visible by and by

const tables = new Map();

// Red, green and blue of each of 256 shades, one after the other.
export function shades(name) {
  if (!tables.has(name)) {
    const anchors = COLOURS[name];
    const table = new Uint8Array(3 * SHADES);
    for (let i = 0; i < SHADES; i += 1) {
      const place = (i / (SHADES - 1)) * (anchors.length - 1);
      const from = Math.min(Math.floor(place), anchors.length - 2);
      for (let k = 0; k < 3; k += 1) table[3 * i + k] = anchors[from][k] + (place - from) * (anchors[from + 1][k] - anchors[from][k]);
    }
    tables.set(name, table);
  }
  return tables.get(name);
}

// As a background of CSS.
export const gradient = (name, to = "right") => `linear-gradient(to ${to}, ${COLOURS[name].map((colour) => `rgb(${colour})`)})`;

// How the values of some maps become colours: the same scale for all of them.
// `image` is density, log_ratio, significant or mass; `hidden` the share of the brain that stays grey.
export function scaleOf(volumes, image, { hidden, colours, opacity }) {
  if (image === "mass") return { image, low: 0.5, high: 3, colours, opacity };
  const share = image === "significant" ? 0 : hidden; // of which nothing is hidden
  const low = Math.max(...volumes.map((volume) => volume.quantile(share)));
  const high = Math.max(...volumes.map((volume) => volume.quantile(BRIGHTEST)), 1e-12);
  return { image, low: Math.min(low, high), high, colours, opacity };
}

// A function that writes the colour of a value to three places of an array, and gives how much of it is seen, from 0 to 1.
export function painter({ image, low, high, colours }) {
  if (image === "mass") {
    return (value, into, at) => {
      const level = Math.round(value);
      if (level < 1) return 0;
      const colour = LEVELS[Math.min(level, 3) - 1];
      into[at] = colour[0]; into[at + 1] = colour[1]; into[at + 2] = colour[2];
      return 1;
    };
  }
  const [warm, cold] = [shades(colours), shades(NEGATIVE)];
  const range = high - low || 1;
  return (value, into, at) => {
    const magnitude = Math.abs(value);
    if (magnitude < low || magnitude === 0) return 0;
    const share = (magnitude - low) / range;
    const table = value < 0 ? cold : warm;
    const shade = 3 * Math.min(Math.round((SHADES - 1) * share), SHADES - 1);
    into[at] = table[shade]; into[at + 1] = table[shade + 1]; into[at + 2] = table[shade + 2];
    return Math.min(1, share / FADE);
  };
}
