import assert from "node:assert/strict";
import test from "node:test";
import { PayloadError, decode } from "../../frontend/js/fgb2.js";
import { frameWords } from "../../frontend/js/frame-words.js";
import { depthOf, layoutTree, nameOf, rowOf, self2Of, selfOf } from "../../frontend/js/layout.js";
import { encode, encodeStacks, randomStacks } from "./encode.mjs";
import { diffOf, nodeOf, treeOf } from "./trees.mjs";

test("totals are the sums of what is below, and self values add up to the root's total", () => {
  for (const seed of [1, 2, 3, 4]) {
    const stacks = randomStacks(seed);
    const sum = Object.values(stacks).reduce((a, b) => a + b, 0);

    const tree = treeOf(stacks);

    let selfSum = 0;
    for (let i = 0; i < tree.n; i++) selfSum += selfOf(tree, i);
    assert.equal(tree.total[0], sum);
    assert.equal(selfSum, sum);
  }
});

test("children lie inside their parent, side by side, and each row is sorted by position", () => {
  const tree = treeOf(randomStacks(5, { isSigned: true }));

  for (let i = 1; i < tree.n; i++) {
    const parent = tree.parent[i];
    assert.ok(tree.x0[i] >= tree.x0[parent] && tree.x0[i] + tree.width[i] <= tree.x0[parent] + tree.width[parent]);
    if (rowOf(tree, i) === rowOf(tree, i - 1)) assert.ok(tree.x0[i] >= tree.x0[i - 1] + tree.width[i - 1]);
  }
});

test("a row holds the nodes of one depth", () => {
  const tree = treeOf({ "a;b;c": 1, "d;e": 2 });

  assert.deepEqual([...tree.rows], [0, 1, 3, 5, 6]);
  assert.equal(depthOf(tree), 4);
  assert.equal(rowOf(tree, nodeOf(tree, "a;b;c")), 3);
});

test("a negative value is as wide as its amount, and its label is the net", () => {
  const tree = treeOf({ "grow;brk": 100, "shrink;brk": -40 });

  assert.equal(tree.width[0], 140);
  assert.equal(tree.total[0], 60);
  assert.equal(tree.total[nodeOf(tree, "shrink")], -40);
});

test("a difference is as wide as its larger side, path by path, so nothing that vanished is missing", () => {
  const tree = diffOf({ "p;gone": [10, 0], "p;new": [0, 10], "p;same": [5, 5] });
  const p = nodeOf(tree, "p");

  assert.deepEqual([tree.total[p], tree.total2[p], tree.width[p]], [15, 15, 25]);
  assert.equal(self2Of(tree, nodeOf(tree, "p;new")), 10);
});

test("a stack of 10,000 frames needs no recursion", () => {
  const depth = 10_000;
  const columns = {
    nch: [...Array(depth).fill(1), 0],
    name: Array(depth + 1).fill(0),
    self: [...Array(depth).fill(0), 7],
    self2: null,
    strings: ["again"],
  };

  const tree = layoutTree(decode(encode(columns)));

  assert.equal(tree.total[0], 7);
  assert.equal(depthOf(tree), depth + 1);
});

test("1 TiB in two halves is exact", () => {
  const half = 2 ** 39;

  assert.equal(treeOf({ a: half, b: half - 1 }).total[0], 2 ** 40 - 1);
});

test("a total above 2^53 is refused with a word", () => {
  const payload = encodeStacks({ a: 2 ** 53 - 2, b: 4 });

  assert.throws(
    () => layoutTree(decode(payload)),
    (error) => error instanceof PayloadError && /larger than 2\^53/.test(error.message),
  );
});

test("frames that do not add up to the stated total are refused", () => {
  const payload = encodeStacks({ a: 3 }, { header: { total: 4 } });

  assert.throws(() => layoutTree(decode(payload)), /add up to 3, the graph says 4/);
});

test("an empty profile is a root of nothing", () => {
  const tree = treeOf({});

  assert.equal(tree.n, 1);
  assert.equal(tree.width[0], 0);
  assert.equal(nameOf(tree, 0), "all");
});

test("what adding fractions leaves is no self value, and fractions without a negative one are no movement", () => {
  const tree = layoutTree({
    header: { encoding: "float64", total: 0.1 + 0.2 + 0.3 },
    n: 4,
    strings: ["a", "b", "c"],
    names: [0, 0, 1, 2],
    childCounts: [3, 0, 0, 0],
    self: Float64Array.of(0, 0.1, 0.2, 0.3),
    self2: null,
  });
  tree.total[0] -= 1e-16;

  assert.equal(selfOf(tree, 0), 0);
  const words = frameWords(tree, { unit: "bytes" }).facts(0, 0);
  assert.deepEqual([words[0][0], words[0][2], words[1][1]], ["total", "100.0\u00a0% of all", "0\u00a0B"]);
  assert.equal(treeOf({ a: 5, b: -3 }, { isSigned: true }).isSigned, true);
});
