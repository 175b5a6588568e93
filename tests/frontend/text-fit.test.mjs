import assert from "node:assert/strict";
import test from "node:test";
import { textMeasure } from "../../frontend/js/text-fit.js";

const measure = textMeasure((point) => (point.length > 1 ? 2 : 1));

test("a name is cut with an ellipsis to its room", () => {
  assert.equal(measure.fit("parse_row", 9).text, "parse_row");
  assert.equal(measure.fit("parse_row", 6).text, "parse…");
});

test("fewer than three characters are not shown", () => {
  assert.equal(measure.fit("parse_row", 3).text, "");
  assert.equal(measure.fit("ab", 2).text, "ab");
});

test("a pair of surrogates is never cut in half", () => {
  assert.equal(measure.fit("abc🔥🔥", 6).text, "abc🔥…");
  assert.equal(measure.fit("abc🔥🔥", 5).text, "abc…");
});

test("a name of 64 kB is not walked to its end", () => {
  let asked = 0;
  const counting = textMeasure(() => (asked++, 1));

  assert.equal(
    counting.fit(String.fromCodePoint(...Array.from({ length: 60_000 }, (_, i) => 0x100 + (i % 5000))), 10).text.length,
    10,
  );
  assert.ok(asked < 20, String(asked));
});

test("the width of what is left is that of its letters", () => {
  assert.deepEqual(measure.fit("parse_row", 6), { text: "parse…", width: 6 });
  assert.deepEqual(measure.fit("ab🔥", 9), { text: "ab🔥", width: 4 });
  assert.equal(measure.width("ab🔥"), 4);
  assert.equal(measure.fits("ab🔥", 4), true);
  assert.equal(measure.fits("ab🔥", 3), false);
});
