import assert from "node:assert/strict";
import test from "node:test";
import { textMeasure } from "../../frontend/js/text-fit.js";

const measure = textMeasure((point) => (point.length > 1 ? 2 : 1));

test("a name is cut with an ellipsis to its room", () => {
  assert.equal(measure.fit("parse_row", 9), "parse_row");
  assert.equal(measure.fit("parse_row", 6), "parse…");
});

test("fewer than three characters are not shown", () => {
  assert.equal(measure.fit("parse_row", 3), "");
  assert.equal(measure.fit("ab", 2), "ab");
});

test("a pair of surrogates is never cut in half", () => {
  assert.equal(measure.fit("abc🔥🔥", 6), "abc🔥…");
  assert.equal(measure.fit("abc🔥🔥", 5), "abc…");
});

test("a name of 64 kB is not walked to its end", () => {
  let asked = 0;
  const counting = textMeasure(() => (asked++, 1));

  assert.equal(
    counting.fit(String.fromCodePoint(...Array.from({ length: 60_000 }, (_, i) => 0x100 + (i % 5000))), 10).length,
    10,
  );
  assert.ok(asked < 20, String(asked));
});
