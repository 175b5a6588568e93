import assert from "node:assert/strict";
import test from "node:test";
import { changeSums } from "../../frontend/js/change-kinds.js";
import { amountsOf } from "../../frontend/js/change-legend.js";
import { changeOf, changesOf, finding, sideOf } from "../../frontend/js/diff.js";
import { decode } from "../../frontend/js/fgb2.js";
import { frameWords } from "../../frontend/js/frame-words.js";
import { layoutTree } from "../../frontend/js/layout.js";
import { drawableMeasure, measured } from "../../frontend/js/measure.js";
import { changeStep } from "../../frontend/js/palette.js";
import { WIDTHS } from "../../frontend/js/side-widths.js";
import { functionRows, functionValues } from "../../frontend/js/top-table.js";
import { readSteps, writeSteps } from "../../frontend/js/transform-address.js";
import { applyTransforms, stacksOf, toggled } from "../../frontend/js/transforms.js";
import { viewOf } from "../../frontend/js/views.js";
import { encodeStacks, randomStacks } from "./encode.mjs";
import { nodeOf } from "./trees.mjs";

const paired = (before, after) =>
  Object.fromEntries(
    [...new Set([...Object.keys(before), ...Object.keys(after)])].map((stack) => [
      stack,
      [before[stack] ?? 0, after[stack] ?? 0],
    ]),
  );
const columnsOf = (valuesByStack) => decode(encodeStacks(valuesByStack, { isDiff: true }));
const as = (over) => ({ width: "larger", scale: "counted", isBeside: false, seconds: null, ...over });
const wantedAs = (over, rest = {}) => ({
  view: "icicle",
  fn: "",
  transforms: [],
  path: [],
  measure: as(over),
  ...rest,
});
const drawn = (valuesByStack, over, rest) => layoutTree(viewOf(columnsOf(valuesByStack), wantedAs(over, rest)).main);
const stacks = paired(randomStacks(6), randomStacks(7));
const sum = (side) => Object.values(stacks).reduce((all, sides) => all + side(sides), 0);
const plain = (text) => text.replaceAll("\u00a0", " ");
const sentenceOf = (columns, unit) => {
  const rows = functionRows(columns.strings, functionValues(stacksOf(columns)));
  return plain(
    finding(changesOf(stacksOf(columns), rows), unit)
      .map(({ text }) => text)
      .join(""),
  );
};

for (const width of Object.keys(WIDTHS)) {
  test(`by ${width}, the root is as wide as all stacks and no child sticks out`, () => {
    const tree = drawn(stacks, { width });

    assert.equal(
      tree.width[0],
      sum(([before, after]) => WIDTHS[width].of(before, after)),
    );
    for (let i = 0; i < tree.n; i++) {
      const children = tree.width.subarray(tree.firstChild[i], tree.firstChild[i + 1]);
      assert.ok(children.reduce((all, each) => all + each, 0) <= tree.width[i]);
      assert.deepEqual(
        [...children],
        [...children].sort((a, b) => b - a),
        "the widest child first",
      );
    }
  });

  test(`by ${width}, totals, changes and shades are the same as by the larger side`, () => {
    const facts = (tree) =>
      [...Array(tree.n).keys()]
        .map((i) => [tree.total[i], tree.total2[i], changeStep(tree.total[i], tree.total2[i], tree.larger[i])].join())
        .sort();

    assert.deepEqual(facts(drawn(stacks, { width })), facts(drawn(stacks, {})));
  });
}

test("what has no width is known with its sum", () => {
  const rest = (width) => {
    const tree = drawn({ gone: [5, 0], fresh: [0, 7], less: [9, 6], same: [4, 4] }, { width });
    return tree.larger[0] - tree.width[0];
  };

  assert.deepEqual(["larger", "after", "before", "moved"].map(rest), [0, 5 + 3, 7, 6 + 4]);
});

test("a run against itself has no width of change, and is neutral in each measure", () => {
  const same = Object.fromEntries(Object.entries(stacks).map(([stack, [before]]) => [stack, [before, before]]));

  assert.equal(drawn(same, { width: "moved" }).width[0], 0);
  for (const scale of ["counted", "share", "hour"]) {
    const tree = drawn(same, { scale, seconds: [7, 7] });
    for (let i = 0; i < tree.n; i++) assert.equal(changeOf(tree, i), 0);
  }
});

test("the other way round, before and after change places and what moved is the same", () => {
  const back = Object.fromEntries(Object.entries(stacks).map(([stack, [before, after]]) => [stack, [after, before]]));

  for (const [there, here] of [
    ["larger", "larger"],
    ["moved", "moved"],
    ["before", "after"],
  ])
    assert.equal(drawn(stacks, { width: there }).width[0], drawn(back, { width: here }).width[0]);
});

test("as shares, a side of three times as much of everything has not changed", () => {
  const thrice = Object.fromEntries(Object.entries(stacks).map(([stack, [before]]) => [stack, [before, 3 * before]]));
  const tree = drawn(thrice, { scale: "share" });

  for (let i = 0; i < tree.n; i++) assert.equal(changeOf(tree, i), 0);
  assert.equal(
    sentenceOf(measured(columnsOf(thrice), as({ scale: "share" })), "share"),
    "Nothing changed: each function has the same share of its side.",
  );
});

test("a share is told in points, and never as a share of a growth", () => {
  const columns = measured(columnsOf({ a: [50, 30], b: [50, 170] }), as({ scale: "share" }));

  assert.equal(sentenceOf(columns, "share"), "b holds 35.0 points more of its side than before.");
});

test("by the hour, each side counts by its own length", () => {
  const columns = measured(columnsOf({ a: [1024, 2048] }), as({ scale: "hour", seconds: [1800, 7200] }));
  const words = frameWords(layoutTree(columns), { unit: "bytes/h" });

  assert.deepEqual(
    words
      .facts(1)
      .slice(0, 3)
      .map(([, value]) => plain(value)),
    ["2.0 kB/h", "1.0 kB/h", "−1.0 kB/h"],
  );
});

test("by the hour is not drawn when a side does not say how long it took", () => {
  assert.equal(drawableMeasure(as({ scale: "hour" }), null).scale, "counted");
  assert.deepEqual(drawableMeasure(as({ scale: "hour" }), [1, 2]).seconds, [1, 2]);
});

test("a side without anything has shares of nothing", () => {
  assert.equal(drawn({ a: [0, 4] }, { scale: "share" }).total[0], 0);
});

test("beside each other each side is as wide as it is, with the same paths and shades", () => {
  const view = viewOf(columnsOf(stacks), wantedAs({ width: "after", isBeside: true }));
  const [after, before] = [view.main, view.beside].map((columns) => layoutTree(columns));

  assert.deepEqual([before.width[0], after.width[0]], [sum(([a]) => a), sum(([, b]) => b)]);
  assert.equal(before.n, after.n);
});

test("bottom-up, a measure holds as well", () => {
  const tree = drawn(stacks, { width: "after" }, { view: "bottom-up" });

  assert.equal(
    tree.width[0],
    sum(([, after]) => after),
  );
});

const KINDS = {
  "p;fresh": [0, 40],
  "p;fresh;deep": [0, 2],
  "p;gone": [30, 0],
  "p;grown": [10, 15],
  "q;shrunk": [9, 4],
  "q;same": [6, 6],
};

test("each stack is of one kind, and their changes add up to the whole", () => {
  const { mixed, ...kinds } = changeSums(stacksOf(columnsOf(KINDS)));

  assert.deepEqual(kinds, {
    new: { count: 1, change: 42 },
    gone: { count: 1, change: -30 },
    grown: { count: 1, change: 5 },
    shrunk: { count: 1, change: -5 },
    same: { count: 1, change: 0 },
  });
  assert.deepEqual(mixed, { count: 1, grew: 47, shrank: 30 });

  const all = changeSums(stacksOf(columnsOf(stacks)));
  const changes = ["new", "gone", "grown", "shrunk", "same"].map((kind) => all[kind].change);
  assert.equal(
    changes.reduce((a, b) => a + b),
    sum(([before, after]) => after - before),
  );
});

test("a step keeps the stacks of one kind, with their sum", () => {
  for (const [kind, { change }] of Object.entries(changeSums(stacksOf(columnsOf(stacks))))) {
    const tree = layoutTree(applyTransforms(columnsOf(stacks), [{ kind: "changed", what: kind }]));
    if (kind !== "mixed") assert.equal(changeOf(tree, 0), change, kind);
  }
  const mixed = layoutTree(applyTransforms(columnsOf(KINDS), [{ kind: "changed", what: "mixed" }]));
  assert.equal(changeOf(mixed, 0), 47 - 30);
});

test("what only grew is not new where its parent's other stacks are left out", () => {
  const tree = layoutTree(
    applyTransforms(columnsOf({ p: [0, 5], "p;c": [9, 1] }), [{ kind: "changed", what: "grown" }]),
  );

  assert.equal(sideOf(tree, nodeOf(tree, "p")), "");
});

test("the step of a kind is in an address, and another word is told", () => {
  const step = { kind: "changed", what: "new" };

  assert.deepEqual(readSteps(writeSteps([step])).transforms, [step]);
  assert.equal(readSteps("changed:toString").gone.length, 1);
});

test("one kind takes the place of another, and twice the same takes it back", () => {
  const [fresh, gone] = ["new", "gone"].map((what) => ({ kind: "changed", what }));

  assert.deepEqual(toggled([fresh], gone), [gone]);
  assert.deepEqual(toggled([fresh], fresh), []);
});

test("the legend says how many and how much", () => {
  const words = Object.entries(changeSums(stacksOf(columnsOf(KINDS)))).map(([kind, sums]) =>
    plain(amountsOf(kind, sums, "bytes")),
  );

  assert.deepEqual(words, [
    "1 path, +42 B",
    "1 path, −30 B",
    "1 path, +5 B",
    "1 path, −5 B",
    "1 path",
    "1 path, +47 B and −30 B",
  ]);
});
