// Formats numbers for display, and computes intervals.

export const percent = (share) => `${(100 * share).toFixed(2)} %`;
export const grouped = (number) => Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, ',');

export function seconds(nanoseconds) {
  if (nanoseconds >= 1e9) return `${(nanoseconds / 1e9).toFixed(3)} s`;
  if (nanoseconds >= 1e6) return `${(nanoseconds / 1e6).toFixed(3)} ms`;
  return `${(nanoseconds / 1e3).toFixed(1)} µs`;
}

export function signedPercent(share) {
  return `${share < 0 ? '−' : '+'}${(100 * Math.abs(share)).toFixed(2)} pt`;
}

// Returns Wilson's 95 % interval of a share, which assumes independent samples. Uses the quantile
// of src/analysis/estimate/share.cc. `inequality` is the factor by which unequal weights increase
// the number of samples needed.
export function interval(share, samples, inequality = 1) {
  const quantile = 2.05;
  const throws = samples / Math.max(inequality, 1);
  if (throws <= 0) return {low: 0, high: 1};
  const square = quantile * quantile;
  const middle = (share + square / (2 * throws)) / (1 + square / throws);
  const half = quantile / (1 + square / throws) *
      Math.sqrt(share * (1 - share) / throws + square / (4 * throws * throws));
  return {
    low: share <= 0 ? 0 : Math.max(0, middle - half),
    high: share >= 1 ? 1 : Math.min(1, middle + half),
  };
}

// Returns the interval of the difference of two shares with separate samples (Newcombe's method
// 10).
export function changeInterval(before, beforeInterval, after, afterInterval) {
  const change = after - before;
  const down = Math.hypot(after - afterInterval.low, beforeInterval.high - before);
  const up = Math.hypot(afterInterval.high - after, before - beforeInterval.low);
  return {low: change - down, high: change + up};
}
