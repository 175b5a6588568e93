import assert from "node:assert/strict";
import test from "node:test";
import { MIN_FRAME, ROW, drawList, nodeAt } from "../../frontend/js/draw-list.js";
import { decode } from "../../frontend/js/fgb2.js";
import { layoutTree, rowOf } from "../../frontend/js/layout.js";
import { matchNames, matchNodes } from "../../frontend/js/search.js";
import { encode, randomStacks } from "./encode.mjs";
import { treeOf } from "./trees.mjs";

const viewOf = (tree, over = {}) => ({
  v0: 0,
  v1: tree.width[0],
  width: 300,
  top: 0,
  height: 4000,
  isFlame: false,
  ...over,
});

test("each frame is drawn by itself or lies under a bar, at any zoom", () => {
  for (const [seed, v0, v1] of [
    [1, 0, 1],
    [2, 0, 1],
    [3, 0.2, 0.3],
    [4, 0.61, 0.611],
  ]) {
    const tree = treeOf(randomStacks(seed, { stacks: 800 }));
    const view = viewOf(tree, { v0: v0 * tree.width[0], v1: v1 * tree.width[0] });

    const list = drawList(tree, view, () => 0);

    assertNoMassIsLost(tree, view, list);
  }
});

function assertNoMassIsLost(tree, view, list) {
  const scale = view.width / (view.v1 - view.v0);
  const drawn = new Set(list.frames.map(({ node }) => node));
  for (let node = 0; node < tree.n; node++) {
    const x = (tree.x0[node] - view.v0) * scale;
    const w = tree.width[node] * scale;
    if (w === 0 || x >= view.width || x + w <= 0 || drawn.has(node)) continue;
    assert.ok(w < MIN_FRAME, `frame ${node} is ${w} px wide and was not drawn`);
    const pixel = Math.max(0, Math.floor(x));
    const row = rowOf(tree, node);
    assert.ok(
      list.bars.some((bar) => bar.row === row && bar.x <= pixel && pixel < bar.x + bar.w),
      `frame ${node} has no bar`,
    );
  }
}

test("a wide frame that begins in the pixel of narrow ones is drawn as a frame", () => {
  const tree = treeOf({ "a;x": 1000, "b;wide": 990, "b;y": 4, "a;z": 3, c: 1 });

  const list = drawList(tree, viewOf(tree, { width: 500 }), () => 0);

  for (let node = 0; node < tree.n; node++) {
    if (tree.width[node] * (500 / tree.width[0]) >= MIN_FRAME)
      assert.ok(list.frames.some((frame) => frame.node === node));
  }
});

test("100,000 siblings cost no more than the pixels they lie under", () => {
  const n = 100_000;
  const columns = {
    nch: [n, ...Array(n).fill(0)],
    name: Array(n + 1).fill(0),
    self: [0, ...Array(n).fill(1)],
    self2: null,
    strings: ["tiny"],
  };
  const tree = layoutTree(decode(encode(columns)));

  const list = drawList(tree, viewOf(tree), () => 0);

  assert.equal(list.frames.length, 1);
  assert.deepEqual(
    list.bars.map(({ x, w }) => [x, w]),
    [[0, 300]],
  );
});

test("a bar that holds a match has the colour of matches", () => {
  const tree = treeOf({
    wide: 1_000_000,
    ...Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`tiny${i}`, 1])),
  });
  const { before } = matchNodes(tree, matchNames(tree.strings, /tiny17$/));

  const list = drawList(tree, viewOf(tree), () => 1, { matchesBefore: before, matchShade: 9 });

  assert.deepEqual(
    list.bars.map(({ shade }) => shade),
    [9],
  );
});

test("rows outside the box are not looked at", () => {
  const tree = treeOf({ "a;b;c;d;e;f;g;h": 1 });

  const list = drawList(tree, viewOf(tree, { top: 2 * ROW, height: 3 * ROW }), () => 0);

  assert.deepEqual(
    list.frames.map(({ row }) => row),
    [2, 3, 4],
  );
});

test("a flame has the same rows from the bottom up", () => {
  const tree = treeOf({ "a;b;c;d": 1 });

  const list = drawList(tree, viewOf(tree, { top: 0, height: 2 * ROW, isFlame: true }), () => 0);

  assert.deepEqual(
    list.frames.map(({ row }) => row),
    [3, 4],
  );
});

test("a point finds the frame that is drawn there, and none beside it", () => {
  const tree = treeOf({ "a;b": 60, "a;c": 20, d: 20 });
  const view = viewOf(tree, { width: 100 });
  const nameAt = (px, py) => {
    const node = nodeAt(tree, view, px, py);
    return node < 0 ? "" : node === 0 ? "all" : tree.strings[tree.names[node]];
  };

  assert.deepEqual(
    [nameAt(50, 10), nameAt(50, 30), nameAt(90, 30), nameAt(70, 50), nameAt(90, 50), nameAt(10, 70)],
    ["all", "a", "d", "c", "", ""],
  );
});

test("an empty profile draws nothing and finds its root nowhere", () => {
  const tree = treeOf({});

  const list = drawList(tree, { v0: 0, v1: 1, width: 100, top: 0, height: 100, isFlame: false }, () => 0);

  assert.deepEqual(list, { frames: [], bars: [] });
});
