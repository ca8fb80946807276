// Cortex: the surface of both hemispheres, and the values of maps on it.

import { fileAddress } from "./maps.js";

const PER_MM = 100;
const DEPTHS = [0.2, 0.5, 0.8]; // from the pial to the white surface, where a map is sampled

export async function loadCortex() {
  const answer = await fetch(fileAddress("cortex"));
  if (!answer.ok) throw new Error("The surface of the cortex could not be loaded.");
  const bytes = await new Response(answer.body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  const halves = [];
  for (let at = 0; at < bytes.byteLength;) {
    const [n, f] = new Uint32Array(bytes.slice(at, at + 8));
    at += 8;
    const points = Float32Array.from(new Int16Array(bytes.slice(at, at + 18 * n)), (value) => value / PER_MM);
    at += 18 * n;
    const sulcus = new Uint8Array(bytes.slice(at, at + n));
    at += n;
    const faces = new Uint16Array(bytes.slice(at, at + 6 * f));
    at += 6 * f;
    const surfaces = { pial: points.subarray(0, 3 * n), white: points.subarray(3 * n, 6 * n), inflated: points.subarray(6 * n) };
    halves.push({ ...surfaces, sulcus, faces, n, normals: { pial: normals(surfaces.pial, faces), inflated: normals(surfaces.inflated, faces) } });
  }
  return halves;
}

// Directions that point out of a surface at its vertices, of length 1.
function normals(points, faces) {
  const found = new Float32Array(points.length);
  for (let i = 0; i < faces.length; i += 3) {
    const [a, b, c] = [3 * faces[i], 3 * faces[i + 1], 3 * faces[i + 2]];
    const [ux, uy, uz] = [points[b] - points[a], points[b + 1] - points[a + 1], points[b + 2] - points[a + 2]];
    const [vx, vy, vz] = [points[c] - points[a], points[c + 1] - points[a + 1], points[c + 2] - points[a + 2]];
    const normal = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
    for (const vertex of [a, b, c]) for (let k = 0; k < 3; k += 1) found[vertex + k] += normal[k];
  }
  for (let i = 0; i < found.length; i += 3) {
    const length = Math.hypot(found[i], found[i + 1], found[i + 2]) || 1;
    for (let k = 0; k < 3; k += 1) found[i + k] /= length;
  }
  return found;
}

const sampled = new WeakMap(); // by volume: values of each half

// Values of a map at the vertices of each half, averaged over the depth; the highest level of steps.
export function valuesOn(halves, volume, image) {
  if (!sampled.has(volume)) {
    sampled.set(volume, halves.map(({ pial, white, n }) => {
      const values = new Float32Array(n);
      for (let i = 0; i < n; i += 1) {
        const found = DEPTHS.map((depth) => volume.at([0, 1, 2].map((k) => pial[3 * i + k] + depth * (white[3 * i + k] - pial[3 * i + k]))));
        values[i] = image === "mass" ? Math.max(...found) : found.reduce((sum, value) => sum + value, 0) / found.length;
      }
      return values;
    }));
  }
  return sampled.get(volume);
}
