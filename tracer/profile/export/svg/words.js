// Numbers as words, as tracer/profile/amounts.py has them; tests/view/numbers.json holds both.
const NBSP = "\u00a0";
const COUNTED = "objects calls pages faults stacks events snapshots runs lines frames".split(" ");

const minus = (value) => (value < 0 ? "\u2212" : "");
const rounded = (value, decimals) => Math.floor(value * 10 ** decimals + 0.5) / 10 ** decimals;
const FORMATS = [0, 1].map(
  (decimals) => new Intl.NumberFormat("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }),
);
const grouped = (value, decimals = 0) => FORMATS[decimals].format(value);

function valueWords(value, unit) {
  const size = Math.abs(value);
  return minus(value) + (unit === "bytes" ? bytesWords(size) : countWords(size, unit));
}

const changeWords = (value, unit) => (value > 0 ? "+" : "") + valueWords(value, unit);

function bytesWords(size) {
  if (rounded(size, 0) < 1024) return grouped(rounded(size, 0)) + NBSP + "B";
  const prefixes = ["kB", "MB", "GB"];
  let step = -1;
  for (let amount = size; step < 2 && (step < 0 || rounded(amount, 1) >= 1024); step++) amount = (size /= 1024);
  return grouped(rounded(size, 1), 1) + NBSP + prefixes[step];
}

function countWords(size, unit) {
  const amount = Number.isInteger(size) ? grouped(size) : grouped(rounded(size, 1), 1);
  const word = size === 1 && COUNTED.includes(unit) ? unit.slice(0, -1) : unit;
  return word ? amount + NBSP + word : amount;
}

function shortCount(count) {
  if (count >= 999_500_000) return (count / 1e9).toFixed(2) + NBSP + "G";
  return count >= 999_950 ? (count / 1e6).toFixed(2) + NBSP + "M" : grouped(count);
}

const framesWords = (count) => `${shortCount(count)}${NBSP}${count === 1 ? "frame" : "frames"}`;

function percentWords(share) {
  const percent = Math.abs(share) * 100;
  if (percent > 0 && percent < 0.05) return `${minus(share)}<${NBSP}0.1${NBSP}%`;
  return `${minus(share)}${grouped(rounded(percent, 1), 1)}${NBSP}%`;
}

function wholePercentWords(share) {
  const percent = Math.abs(share) * 100;
  if (percent > 0 && percent < 0.5) return `${minus(share)}<${NBSP}1${NBSP}%`;
  return `${minus(share)}${grouped(rounded(percent, 0))}${NBSP}%`;
}

function ofOwnWords(before, after) {
  if (before === after) return before === 0 ? "\u2013" : `0${NBSP}%`;
  if (before === 0 || after === 0) return before === 0 ? "new" : "gone";
  if (after / before > 10) return `×${NBSP}${grouped(rounded(after / before, 1), 1)}`;
  const share = (after - before) / Math.abs(before);
  return (share > 0 ? "+" : "") + wholePercentWords(share);
}
