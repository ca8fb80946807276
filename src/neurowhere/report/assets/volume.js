// Volume: numbers on a grid in the brain, and their values between its points.

export class Volume {
  constructor(sizes, affine, values) {
    [this.nx, this.ny, this.nz] = sizes;
    this.values = values;
    this.affine = affine;
    this.inverse = inverted(affine);
  }

  toVoxel(point) {
    return this.inverse.map(([a, b, c, d]) => a * point[0] + b * point[1] + c * point[2] + d);
  }

  at(point) {
    return this.plane(point, [0, 0, 0], [0, 0, 0], 1, 1)[0];
  }

  // The value of the voxel around a point.
  nearest(point) {
    const [i, j, k] = this.toVoxel(point).map(Math.round);
    const { nx, ny, nz } = this;
    return i >= 0 && j >= 0 && k >= 0 && i < nx && j < ny && k < nz ? this.values[i + nx * (j + ny * k)] : 0;
  }

  // Values of a picture of `width` by `height`, from its first point, with the steps to the right and down in mm.
  // It is drawn at every move: plain variables, because arrays would be garbage by the million.
  plane(first, right, down, width, height, found = new Float32Array(width * height)) {
    const [startI, startJ, startK] = this.toVoxel(first);
    const [[overI, overJ, overK], [underI, underJ, underK]] = [right, down].map((step) => this.inverse.map(([a, b, c]) => a * step[0] + b * step[1] + c * step[2]));
    for (let row = 0, n = 0; row < height; row += 1) {
      let i = startI + row * underI;
      let j = startJ + row * underJ;
      let k = startK + row * underK;
      for (let column = 0; column < width; column += 1, n += 1) {
        found[n] = this.#between(i, j, k);
        i += overI; j += overJ; k += overK;
      }
    }
    return found;
  }

  // The value between eight neighbours; 0 beyond the edges.
  #between(i, j, k) {
    const { values, nx, ny, nz } = this;
    if (!(i > -1 && j > -1 && k > -1 && i < nx && j < ny && k < nz)) return 0;
    const x = Math.floor(i);
    const y = Math.floor(j);
    const z = Math.floor(k);
    const u = i - x;
    const v = j - y;
    const w = k - z;
    if (x < 0 || y < 0 || z < 0 || x + 1 >= nx || y + 1 >= ny || z + 1 >= nz) return this.#atEdge(x, y, z, [u, v, w]);
    const at = x + nx * (y + ny * z);
    const far = at + nx * ny;
    const near = (values[at] * (1 - u) + values[at + 1] * u) * (1 - v) + (values[at + nx] * (1 - u) + values[at + nx + 1] * u) * v;
    const next = (values[far] * (1 - u) + values[far + 1] * u) * (1 - v) + (values[far + nx] * (1 - u) + values[far + nx + 1] * u) * v;
    return near * (1 - w) + next * w;
  }

  #atEdge(x, y, z, [u, v, w]) {
    const { values, nx, ny, nz } = this;
    let sum = 0;
    for (const [a, p] of [[x, 1 - u], [x + 1, u]]) {
      for (const [b, q] of [[y, 1 - v], [y + 1, v]]) {
        for (const [c, r] of [[z, 1 - w], [z + 1, w]]) {
          if (a >= 0 && b >= 0 && c >= 0 && a < nx && b < ny && c < nz) sum += p * q * r * values[a + nx * (b + ny * c)];
        }
      }
    }
    return sum;
  }

  // The value of the largest magnitude along an axis, in two layers at 0 and 1 mm; null where the
  // grid is oblique.
  flattened(axis) {
    if (this.affine.some((row, i) => [0, 1, 2].some((j) => i !== j && row[j] !== 0))) return null;
    const [sizes, flat] = [[this.nx, this.ny, this.nz], [this.nx, this.ny, this.nz]];
    flat[axis] = 2;
    const [across, up] = [0, 1, 2].filter((other) => other !== axis);
    const steps = [1, sizes[0], sizes[0] * sizes[1]];
    const places = [1, flat[0], flat[0] * flat[1]];
    const found = new Float32Array(flat[0] * flat[1] * flat[2]);
    for (let j = 0; j < sizes[up]; j += 1) {
      for (let i = 0; i < sizes[across]; i += 1) {
        let best = 0;
        for (let n = 0, at = i * steps[across] + j * steps[up]; n < sizes[axis]; n += 1, at += steps[axis]) {
          if (Math.abs(this.values[at]) > Math.abs(best)) best = this.values[at];
        }
        const place = i * places[across] + j * places[up];
        found[place] = found[place + places[axis]] = best;
      }
    }
    return new Volume(flat, this.affine.map((row, i) => (i === axis ? row.map((_, j) => Number(i === j)) : row)), found);
  }

  // Magnitudes of what is not zero, in order.
  get magnitudes() {
    if (!this.sorted) {
      const { values } = this;
      const found = new Float32Array(values.length);
      let n = 0;
      for (let i = 0; i < values.length; i += 1) if (values[i] !== 0) { found[n] = Math.abs(values[i]); n += 1; }
      this.sorted = found.slice(0, n).sort();
    }
    return this.sorted;
  }

  // The place of the largest value, in mm.
  get peak() {
    const { values, nx, ny } = this;
    let best = 0;
    for (let i = 1; i < values.length; i += 1) if (values[i] > values[best]) best = i;
    const voxel = [best % nx, Math.floor(best / nx) % ny, Math.floor(best / (nx * ny))];
    return this.affine.map(([a, b, c, d]) => a * voxel[0] + b * voxel[1] + c * voxel[2] + d);
  }

  get hasNegative() {
    this.negative ??= this.values.some((value) => value < 0);
    return this.negative;
  }

  // The magnitude below which a share of them lies.
  quantile(share) {
    const { length } = this.magnitudes;
    return length ? this.magnitudes[Math.min(Math.floor(share * length), length - 1)] : 0;
  }
}

// ---- images that are made of a density

const ratios = new WeakMap(); // by density
const regions = new WeakMap();

const like = ({ nx, ny, nz, affine }, values) => new Volume([nx, ny, nz], affine, values);

// The log ratio of a density to the mean map, both mixed with the uniform density, as the library computes it.
export function ratioOf(density, mean) {
  if (!ratios.has(density)) {
    const { uniform } = mean.comment;
    ratios.set(density, like(density, density.values.map((value, i) => (mean.values[i] ? Math.log((value + uniform) / (mean.values[i] + uniform)) : 0))));
  }
  return ratios.get(density);
}

// 3 where half of the peaks should be, 2 for 80 % and 1 for 95 %.
export function massOf(density) {
  if (!regions.has(density)) {
    const [wide, middle, narrow] = density.comment.levels;
    regions.set(density, like(density, density.values.map((value) => (value > 0) * ((value >= wide) + (value >= middle) + (value >= narrow)))));
  }
  return regions.get(density);
}

const MOST_RAISED = 0.97; // share of the brain that is raised less
const RAISED = 0.93; // the same of a place that is looked at if it is given

// A given place if it is raised, else the densest of those that are raised most, in mm: it is coloured in either
// image. Null where there is none.
export function raisedPlace(density, mean, given = null) {
  const ratio = ratioOf(density, mean);
  if (given && ratio.at(given) > ratio.quantile(RAISED)) return given;
  const least = ratio.quantile(MOST_RAISED);
  const found = like(density, density.values.map((value, i) => (ratio.values[i] >= least && least > 0 ? value : 0)));
  return found.magnitudes.length ? found.peak : null;
}

// Rows of the inverse of a matrix with an offset.
function inverted([[a, b, c, x], [d, e, f, y], [g, h, i, z]]) {
  const [m, n, o] = [e * i - f * h, c * h - b * i, b * f - c * e];
  const whole = a * m + d * n + g * o || 1;
  const rows = [
    [m, n, o],
    [f * g - d * i, a * i - c * g, c * d - a * f],
    [d * h - e * g, b * g - a * h, a * e - b * d],
  ].map((row) => row.map((value) => value / whole));
  return rows.map(([p, q, r]) => [p, q, r, -(p * x + q * y + r * z)]);
}
