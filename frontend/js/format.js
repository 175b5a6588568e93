// Turns numbers into the words of the site; tests/view/numbers.json holds this and the template filters to the same text.
import { format } from "../vendor/d3.js";

export const NBSP = "\u00a0";
export const MINUS = "\u2212";
export const UNKNOWN = "–";

const grouped = format(",.0f");
const oneDecimal = format(",.1f");
const PER_HOUR = "/h";
const isRate = (unit) => unit?.endsWith(PER_HOUR);
const PREFIXES = ["B", "kB", "MB", "GB"];
const COUNTED = new Set([
  "objects",
  "calls",
  "pages",
  "faults",
  "stacks",
  "events",
  "snapshots",
  "runs",
  "lines",
  "frames",
]);

/** A value with its unit: bytes in powers of 1024, anything else counted. */
export function formatValue(value, unit) {
  if (!isNumber(value)) return UNKNOWN;
  if (unit === "share") return formatPercent(value);
  if (isRate(unit)) return `${formatValue(value, unit.slice(0, -PER_HOUR.length))}${PER_HOUR}`;
  return minus(value) + (unit === "bytes" ? bytesOf(Math.abs(value)) : countOf(Math.abs(value), unit));
}

/** The same with its sign, for changes. */
export function formatChange(value, unit) {
  return (value > 0 ? "+" : "") + pointsOf(formatValue(value, unit), unit);
}

// The difference of two shares is no share of anything.
const pointsOf = (text, unit) => (unit === "share" ? text.replace("%", "points") : text);

/** A value as it stands on a frame, where room is short. */
export function formatShort(value, unit) {
  const size = Math.abs(value);
  if (unit === "share") return formatPercent(value);
  if (isRate(unit)) return `${formatShort(value, unit.slice(0, -PER_HOUR.length))}${PER_HOUR}`;
  if (unit !== "bytes") return minus(value) + formatCount(size);
  const [amount, prefix] = scaledBytes(size);
  return minus(value) + (amount >= 99.95 || prefix === "B" ? grouped(amount) : oneDecimal(amount)) + NBSP + prefix;
}

export function formatShortChange(value, unit) {
  return (value > 0 ? "+" : "") + pointsOf(formatShort(value, unit), unit);
}

/** A count without its unit: 12,940, and from a million on 2.31 M. */
export function formatCount(value) {
  if (!isNumber(value)) return UNKNOWN;
  const size = Math.abs(value);
  if (size >= 999_500_000) return minus(value) + (size / 1e9).toFixed(2) + NBSP + "G";
  if (size >= 999_950) return minus(value) + (size / 1e6).toFixed(2) + NBSP + "M";
  return minus(value) + (Number.isInteger(size) ? grouped(size) : oneDecimal(size));
}

/** A share of 1 as a percentage; what is there but rounds to nothing says so. */
export function formatPercent(share) {
  if (!isNumber(share)) return UNKNOWN;
  const percent = Math.abs(share) * 100;
  if (percent > 0 && percent < 0.05) return `${minus(share)}<${NBSP}0.1${NBSP}%`;
  return `${minus(share)}${oneDecimal(percent)}${NBSP}%`;
}

export function formatWholePercent(share) {
  const percent = Math.abs(share) * 100;
  if (percent > 0 && percent < 0.5) return `${minus(share)}<${NBSP}1${NBSP}%`;
  return `${minus(share)}${grouped(percent)}${NBSP}%`;
}

/** How a value changed against its own past: "new", "gone", "+806 %", and more than ten times as "× 12.1". */
export function formatOfOwn(before, after) {
  if (before === after) return before === 0 ? UNKNOWN : `0${NBSP}%`;
  if (before === 0) return "new";
  if (after === 0) return "gone";
  const ratio = after / before;
  if (ratio > 10) return `×${NBSP}${oneDecimal(ratio)}`;
  const change = (after - before) / Math.abs(before);
  return (change > 0 ? "+" : "") + formatWholePercent(change);
}

/** Seconds as 3:24 or 1:00:00. */
export function formatDuration(seconds) {
  if (!isNumber(seconds)) return UNKNOWN;
  const whole = Math.max(0, Math.floor(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return h ? `${h}:${padded(m)}:${padded(s)}` : `${m}:${padded(s)}`;
}

/** Milliseconds since 1970 as a time of day: "12:03:05 UTC". */
export function formatClock(ms) {
  return isNumber(ms) ? `${new Date(ms).toISOString().slice(11, 19)}${NBSP}UTC` : UNKNOWN;
}

/** A point of the time axis: "10 s", "3 min", "1:30 min". */
export function formatMoment(seconds) {
  if (seconds < 60) return `${Number(seconds.toFixed(1))}${NBSP}s`;
  return seconds % 60 < 0.5 ? `${Math.floor(seconds / 60)}${NBSP}min` : `${formatDuration(seconds)}${NBSP}min`;
}

/** "1 frame", "3 frames". */
export function formatPlural(count, one, many) {
  return `${formatCount(count)}${NBSP}${count === 1 ? one : many}`;
}

/** A name of a value type as a title: outstanding_bytes is "Outstanding bytes". */
export function titleOf(name) {
  const words = name.replaceAll("_", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

function bytesOf(size) {
  const [amount, prefix] = scaledBytes(size);
  return (prefix === "B" ? grouped(amount) : oneDecimal(amount)) + NBSP + prefix;
}

function scaledBytes(size) {
  let [amount, step] = [halfUp(size, 0), 0];
  if (amount < 1024) return [amount, PREFIXES[0]];
  for (amount = size; step < PREFIXES.length - 1 && (step === 0 || halfUp(amount, 1) >= 1024); step++) amount /= 1024;
  return [halfUp(amount, 1), PREFIXES[step]];
}

function countOf(size, unit) {
  const amount = Number.isInteger(size) ? grouped(size) : oneDecimal(halfUp(size, 1));
  if (!unit) return amount;
  return `${amount}${NBSP}${size === 1 && COUNTED.has(unit) ? unit.slice(0, -1) : unit}`;
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const minus = (value) => (value < 0 ? MINUS : "");
const padded = (number) => String(number).padStart(2, "0");
const halfUp = (value, decimals) => Math.floor(value * 10 ** decimals + 0.5) / 10 ** decimals;
