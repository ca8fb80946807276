// Ticks: round numbers along a scale.

const ROUND = [1, 2, 5];
const RATIOS = [1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 1e4, 1e5];
const MOST = 6;

// Round numbers from `low` to `high`, about as many as fit.
export function roundNumbers(low, high, most = MOST) {
  for (let power = Math.floor(Math.log10(high - low || 1)) - 2; ; power += 1) {
    for (const first of ROUND) {
      const step = first * 10 ** power;
      const start = Math.ceil(low / step - 1e-9);
      const end = Math.floor(high / step + 1e-9);
      if (end - start + 1 <= most) return Array.from({ length: Math.max(end - start + 1, 0) }, (_, i) => Number(((start + i) * step).toPrecision(6)));
    }
  }
}

// Round ratios whose logarithms lie from `low` to `high`.
export function roundRatios(low, high) {
  const found = RATIOS.filter((ratio) => Math.log(ratio) >= low - 1e-9 && Math.log(ratio) <= high + 1e-9);
  const step = Math.ceil(found.length / 4);
  return found.filter((_, i) => i % step === 0);
}
