import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import {
  formatChange,
  formatCount,
  formatDuration,
  formatMoment,
  formatOfOwn,
  formatPercent,
  formatShort,
  formatValue,
  formatWholePercent,
  titleOf,
} from "../../frontend/js/format.js";
import { formatAge } from "../../frontend/js/time-ago.js";

const rows = JSON.parse(readFileSync(new URL("../view/numbers.json", import.meta.url), "utf8"));

const WRITTEN = {
  duration: formatDuration,
  age: formatAge,
  share: formatPercent,
  "whole share": formatWholePercent,
  count: formatCount,
  "of own": (sides) => formatOfOwn(...sides),
};

test("numbers read as the templates write them", () => {
  const written = rows.map(({ input, unit, signed }) => {
    if (WRITTEN[unit]) return WRITTEN[unit](input);
    return signed ? formatChange(input, unit) : formatValue(input, unit);
  });

  assert.ok(rows.length > 40);
  assert.deepEqual(
    written,
    rows.map(({ text }) => text),
  );
});

test("on a frame bytes keep three digits, and counts are short from a million on", () => {
  assert.equal(formatShort(941621248, "bytes"), "898\u00a0MB");
  assert.equal(formatShort(40684749, "bytes"), "38.8\u00a0MB");
  assert.equal(formatShort(-512, "bytes"), "\u2212512\u00a0B");
  assert.equal(formatShort(2_310_000, "objects"), "2.31\u00a0M");
  assert.equal(formatCount(12940), "12,940");
});

test("a change against nothing is new or gone, and never a percentage of nothing", () => {
  assert.equal(formatOfOwn(0, 10), "new");
  assert.equal(formatOfOwn(10, 0), "gone");
  assert.equal(formatOfOwn(0, 0), "–");
  assert.equal(formatOfOwn(10, 10), "0\u00a0%");
  assert.equal(formatOfOwn(51, 462), "+806\u00a0%");
  assert.equal(formatOfOwn(10, 121), "×\u00a012.1");
  assert.equal(formatOfOwn(100, 27), "\u221273\u00a0%");
});

test("a share that rounds to nothing is still told", () => {
  assert.equal(formatPercent(0.00001), "<\u00a00.1\u00a0%");
  assert.equal(formatPercent(0), "0.0\u00a0%");
  assert.equal(formatPercent(Number.NaN), "–");
});

test("moments and titles are words", () => {
  assert.equal(formatMoment(10), "10\u00a0s");
  assert.equal(formatMoment(180), "3\u00a0min");
  assert.equal(titleOf("outstanding_bytes"), "Outstanding bytes");
});
