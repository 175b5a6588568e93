// The script inside of a picture: the same words and colours as Python's, and searches that count nothing twice.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import vm from "node:vm";
import { nameStep } from "../../frontend/js/palette.js";

const folder = new URL("../../tracer/profile/export/svg/", import.meta.url);
const source = ["words.js", "layout.js"].map((name) => readFileSync(new URL(name, folder), "utf8")).join("");
const names =
  "valueWords changeWords shortCount percentWords wholePercentWords ofOwnWords layout search patternOf foundWords nameClass visible frameAt factsOf";
const script = vm.runInThisContext(`(() => { ${source}\nreturn { ${names.replaceAll(" ", ", ")} }; })()`);
const rows = JSON.parse(readFileSync(new URL("../view/numbers.json", import.meta.url), "utf8"));

const WRITTEN = {
  share: script.percentWords,
  "whole share": script.wholePercentWords,
  count: script.shortCount,
  "of own": (sides) => script.ofOwnWords(...sides),
};
const NOT_HERE = ["duration", "age"];

test("numbers are written as on the site", () => {
  for (const { input, unit, signed, text } of rows.filter((row) => !NOT_HERE.includes(row.unit))) {
    const words = WRITTEN[unit] ?? ((value) => (signed ? script.changeWords : script.valueWords)(value, unit));
    assert.equal(words(input), text, `${input} ${unit}`);
  }
});

test("names have the colours of the site", () => {
  for (const name of ["main", "malloc", "naïve 🦀"]) assert.equal(script.nameClass(name), `m${nameStep(name)}`);
});

// main;a;a 4, main;a 2, main;b 10
const recursion = {
  unit: "bytes",
  names: ["main", "b", "a"],
  name: [0, 0, 1, 2, 2],
  children: [1, 2, 0, 1, 0],
  self: [0, 0, 10, 2, 4],
  absent: { frames: 0, amount: 0 },
};

test("frames have their places, and a match inside of another counts once", () => {
  const tree = script.layout(recursion);

  const found = script.search(tree, script.patternOf("^a$"));

  assert.deepEqual([...tree.start], [0, 0, 0, 10, 10]);
  assert.deepEqual([found.frames, found.width, found.totals], [2, 6, [6]]);
  assert.equal(script.foundWords(tree, found), "Matched 37.5\u00a0%, 6\u00a0B in 2\u00a0frames");
});

test("where the file does not hold all frames, what matched is a range", () => {
  const tree = script.layout({ ...recursion, absent: { frames: 9, amount: 4 } });

  const words = script.foundWords(tree, script.search(tree, script.patternOf("a$")));

  assert.match(words, /^Matched 37\.5\u00a0% to 62\.5\u00a0%,/);
});

test("what is no expression is searched as text, and nothing is no search", () => {
  assert.equal(script.patternOf("operator[](").test("x operator[](int)"), true);
  assert.equal(script.patternOf(""), null);
  assert.equal(script.patternOf("x".repeat(2001)), null);
});

test("a view has the frames that are wide enough, and counts the others with their sum", () => {
  const tree = script.layout(recursion);

  const { shown, hidden } = script.visible(tree, 0, 16, 1, 6);

  assert.deepEqual([shown, hidden], [[0, 1, 2, 3], { frames: 1, amount: 4 }]);
  assert.deepEqual(script.visible(tree, 10, 16, 10, 6).shown, [0, 1, 3, 4]);
});

test("a place in an address leads to the nearest frame of its row", () => {
  const tree = script.layout(recursion);

  assert.deepEqual(
    [
      [2, 9.99],
      [2, 3],
      [1, 50],
      [7, 0],
    ].map(([row, place]) => script.frameAt(tree, row, place)),
    [3, 2, 1, 0],
  );
});

test("values below 0 are net of their movement", () => {
  const tree = script.layout({
    unit: "",
    isSigned: true,
    names: ["x"],
    name: [0, 0],
    children: [1, 0],
    self: [5, -3],
    width: [5, 3],
    absent: {},
  });

  assert.equal(script.factsOf(tree, 1), "net \u22123, 37.5\u00a0% of all movement; self \u22123");
});
