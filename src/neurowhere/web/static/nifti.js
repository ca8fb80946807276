// NIfTI: reads an image from bytes, packed or not, as the server sends it or a user drops it.

import { Volume } from "./volume.js";

const GZIP = [0x1f, 0x8b];
const HEADER = 348; // bytes
const KINDS = { // codes of NIfTI: the size of a number, and how a DataView reads it
  2: [1, "getUint8"], 4: [2, "getInt16"], 8: [4, "getInt32"], 16: [4, "getFloat32"],
  64: [8, "getFloat64"], 256: [1, "getInt8"], 512: [2, "getUint16"], 768: [4, "getUint32"],
};

export class NotAnImage extends Error {}

export async function readNifti(blob) {
  const bytes = await unpacked(blob);
  const view = new DataView(bytes);
  if (bytes.byteLength < HEADER) throw new NotAnImage("Expected a NIfTI image (.nii or .nii.gz), but the file is too short.");
  const little = view.getInt32(0, true) === HEADER;
  if (!little && view.getInt32(0) !== HEADER) throw new NotAnImage("Expected a NIfTI-1 image (.nii or .nii.gz), but the file is something else.");
  const sizes = [1, 2, 3].map((i) => view.getInt16(40 + 2 * i, little));
  const volumes = Math.max(view.getInt16(40, little) > 3 ? view.getInt16(48, little) : 1, 1);
  if (volumes > 1) throw new NotAnImage(`Expected one 3-D map, but the image has ${volumes} volumes. Drop one of them.`);
  const volume = new Volume(sizes, affineOf(view, little), valuesOf(view, little, sizes[0] * sizes[1] * sizes[2]));
  volume.comment = commentOf(view, little);
  return volume;
}

// What a file of the page says beside its values: JSON, in an extension of the header.
function commentOf(view, little) {
  if (view.getFloat32(108, little) < HEADER + 12 || !view.getUint8(HEADER)) return null;
  const [start, size] = [HEADER + 4, view.getInt32(HEADER + 4, little)];
  try {
    return JSON.parse(new TextDecoder().decode(new Uint8Array(view.buffer, start + 8, size - 8)).replace(/\0+$/, ""));
  } catch {
    return null; // of another program
  }
}

// The bytes of a file, without the packing of gzip.
export async function unpacked(blob) {
  const head = new Uint8Array(await blob.slice(0, 2).arrayBuffer());
  if (!GZIP.every((byte, i) => head[i] === byte)) return blob.arrayBuffer();
  try {
    return await new Response(blob.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  } catch {
    throw new NotAnImage("The file cannot be unpacked: it is damaged, or was cut short.");
  }
}

function valuesOf(view, little, n) {
  const kind = KINDS[view.getInt16(70, little)];
  if (!kind) throw new NotAnImage("Expected numbers of a usual kind (integers or floats) in the image.");
  const [size, read] = kind;
  const start = Math.max(view.getFloat32(108, little), HEADER);
  if (start + n * size > view.byteLength) throw new NotAnImage("The image is shorter than its header says.");
  const slope = view.getFloat32(112, little) || 1;
  const offset = view.getFloat32(112, little) ? view.getFloat32(116, little) : 0;
  if (read === "getFloat32" && little && slope === 1 && !offset && start % size === 0) return finite(new Float32Array(view.buffer.slice(start, start + n * size)));
  const values = new Float32Array(n);
  for (let i = 0; i < n; i += 1) {
    const value = slope * view[read](start + i * size, little) + offset;
    values[i] = Number.isFinite(value) ? value : 0;
  }
  return values;
}

// The numbers with 0 for what is none; as the server sends them, they need not be read one by one.
function finite(values) {
  for (let i = 0; i < values.length; i += 1) if (!Number.isFinite(values[i])) values[i] = 0;
  return values;
}

// Rows of the matrix from voxels to millimetres: the sform if there is one, else the qform.
function affineOf(view, little) {
  const float = (at) => view.getFloat32(at, little);
  if (view.getInt16(254, little) > 0) return [280, 296, 312].map((at) => [0, 4, 8, 12].map((i) => float(at + i)));
  const steps = [80, 84, 88].map(float);
  if (view.getInt16(252, little) <= 0) return steps.map((step, i) => [0, 1, 2, 3].map((j) => (i === j ? step : 0)));
  const [b, c, d] = [256, 260, 264].map(float);
  const a = Math.sqrt(Math.max(0, 1 - b * b - c * c - d * d));
  const turned = [
    [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
    [2 * (b * c + a * d), a * a + c * c - b * b - d * d, 2 * (c * d - a * b)],
    [2 * (b * d - a * c), 2 * (c * d + a * b), a * a + d * d - b * b - c * c],
  ];
  const sign = float(76) < 0 ? -1 : 1;
  return turned.map((row, i) => [row[0] * steps[0], row[1] * steps[1], row[2] * steps[2] * sign, float(268 + 4 * i)]);
}
