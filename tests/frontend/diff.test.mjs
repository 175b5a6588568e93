import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { foldAllocators } from "../../frontend/js/allocators.js";
import { changeSums } from "../../frontend/js/change-kinds.js";
import { changeOf, changesOf, finding, movements, sideOf } from "../../frontend/js/diff.js";
import { decode } from "../../frontend/js/fgb2.js";
import { layoutTree, self2Of, selfOf } from "../../frontend/js/layout.js";
import { changeStep } from "../../frontend/js/palette.js";
import { arrangeRows, functionRows, functionValues } from "../../frontend/js/top-table.js";
import { encodeStacks, randomStacks, stacksOfTree } from "./encode.mjs";
import { diffOf, nodeOf } from "./trees.mjs";

const MB = 2 ** 20;
const paired = (before, after) =>
  Object.fromEntries(
    [...new Set([...Object.keys(before), ...Object.keys(after)])].map((stack) => [
      stack,
      [before[stack] ?? 0, after[stack] ?? 0],
    ]),
  );
const stacksIn = (tree) => ({
  ...tree,
  self: Float64Array.from({ length: tree.n }, (_, i) => selfOf(tree, i)),
  self2: Float64Array.from({ length: tree.n }, (_, i) => self2Of(tree, i)),
});
const rowsOf = (tree) => functionRows(tree.strings, functionValues(stacksOfTree(tree)));
const sentenceOf = (tree, unit = "bytes") =>
  finding(changesOf(stacksIn(tree), rowsOf(tree)), unit)
    .map(({ text }) => text)
    .join("")
    .replaceAll("\u00a0", " ");

test("a run against itself is neutral everywhere", () => {
  const stacks = randomStacks(1);
  const tree = diffOf(paired(stacks, stacks));

  for (let i = 0; i < tree.n; i++) {
    assert.equal(changeOf(tree, i), 0);
    assert.equal(changeStep(tree.total[i], tree.total2[i], tree.width[i]), 0);
    assert.equal(sideOf(tree, i), "");
  }
  assert.match(sentenceOf(tree), /^Nothing changed: both sides hold/);
});

test("the other way round is the exact mirror", () => {
  const [a, b] = [randomStacks(2), randomStacks(3)];
  const there = diffOf(paired(a, b));
  const back = diffOf(paired(b, a));
  const byName = (tree) =>
    Object.fromEntries(
      functionRows(tree.strings, functionValues(stacksOfTree(tree))).map((row) => [row.name, row.totalChange]),
    );

  const [one, other] = [byName(there), byName(back)];

  for (const name of Object.keys(one)) assert.equal(one[name] + other[name], 0);
  assert.equal(there.width[0], back.width[0]);
});

test("the changes of self values add up to the change of the total", () => {
  const tree = diffOf(paired(randomStacks(4), randomStacks(5)));

  let sum = 0;
  for (let i = 0; i < tree.n; i++) sum += self2Of(tree, i) - selfOf(tree, i);

  assert.equal(sum, changeOf(tree, 0));
});

test("new and gone frames are told apart from changed ones", () => {
  const tree = diffOf({ new: [0, 5], gone: [5, 0], both: [5, 6] });

  assert.deepEqual(
    ["new", "gone", "both"].map((name) => sideOf(tree, nodeOf(tree, name))),
    ["new", "gone", ""],
  );
});

test("a side without anything gives no division by zero", () => {
  const tree = diffOf({ "a;b": [0, 10] });

  assert.equal(changeStep(tree.total[1], tree.total2[1], tree.width[1]), 4);
  assert.equal(changeStep(0, 0, 0), 0);
  assert.match(sentenceOf(tree), /b holds 10 B more than before, 100 % of the growth; 1 path is new/);
});

test("what grew and what shrank inside are kept apart", () => {
  const tree = diffOf({ "p;x": [10, 30], "p;y": [8, 3] });
  const { grew, shrank } = movements(tree);

  assert.deepEqual([grew[0], shrank[0]], [20, 5]);
});

test("a new path counts once, at its uppermost frame", () => {
  const tree = diffOf({ "a;n;m": [0, 3], "a;n;k": [0, 4], "a;x": [1, 1], z: [0, 1] });

  assert.deepEqual(changeSums(stacksIn(tree)).new, { count: 2, change: 8 });
});

test("the finding is a sentence to read aloud", () => {
  const tree = diffOf({
    "main;parse_row": [51 * MB, 463 * MB],
    "main;put": [32 * MB, 200 * MB],
    "main;old": [10 * MB, 0],
    "main;fresh": [0, 10 * MB],
  });

  assert.equal(
    sentenceOf(tree),
    "parse_row holds 412.0 MB more than before, 71 % of the growth; 1 path is new (+10.0 MB), 1 is gone (−10.0 MB).",
  );
});

test("a decrease is told as one", () => {
  assert.equal(
    sentenceOf(diffOf({ a: [30 * MB, 10 * MB], b: [1, 1] })),
    "a holds 20.0 MB less than before, 100 % of the decrease.",
  );
});

test("steps are 5, 25, 50 and 80 per cent of the width", () => {
  const steps = [96, 95, 75, 50, 20, 0].map((before) => changeStep(before, 100, 100));

  assert.deepEqual(steps, [0, 1, 2, 3, 4, 4]);
  assert.equal(changeStep(100, 50, 100), -3);
});

// Python finds the same for the page without script.
for (const { about, unit, stacks, ...expected } of JSON.parse(
  readFileSync(new URL("../view/comparisons.json", import.meta.url), "utf8"),
)) {
  test(`what changed: ${about}`, () => {
    const payload = encodeStacks(stacks, { isDiff: true, header: { value_type: { name: "counted", unit } } });
    const tree = layoutTree(foldAllocators(decode(payload)).columns);

    const rows = functionRows(tree.strings, functionValues(stacksOfTree(tree)));
    const { grew, shrank } = movements(tree);

    const sentence = finding(changesOf(stacksIn(tree), rows), unit).map(({ text }) => text);
    const cells = (row) => [row.name, row.self, row.selfAfter, row.selfChange, row.total, row.totalChange];
    assert.equal(sentence.join(""), expected.sentence);
    assert.deepEqual(arrangeRows(rows, { sort: "-selfChange" }).map(cells), expected.rows);
    assert.deepEqual([grew[0], shrank[0]], expected.moved);
  });
}
