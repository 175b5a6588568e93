import assert from "node:assert/strict";
import test from "node:test";
import { arrangeRows, functionRows, functionValues } from "../../frontend/js/top-table.js";
import { decode } from "../../frontend/js/fgb2.js";
import { layoutTree } from "../../frontend/js/layout.js";
import { encode, randomStacks, stacksOfTree } from "./encode.mjs";
import { diffOf, treeOf } from "./trees.mjs";

const rowsOf = (tree) => functionRows(tree.strings, functionValues(stacksOfTree(tree)));
const rowNamed = (rows, name) => rows.find((row) => row.name === name);

test("recursion counts once in the total", () => {
  const rows = rowsOf(treeOf({ "a;a;a": 10 }));

  assert.deepEqual(rows, [{ id: 0, name: "a", self: 10, total: 10, frames: 3 }]);
});

test("recursion through others counts once too", () => {
  const rows = rowsOf(treeOf({ "a;b;a;b": 10, "a;b": 5 }));

  assert.equal(rowNamed(rows, "a").total, 15);
  assert.equal(rowNamed(rows, "b").total, 15);
  assert.equal(rowNamed(rows, "b").self, 15);
});

test("self and total are the sums over stacks", () => {
  for (const seed of [1, 2, 3]) {
    const stacks = randomStacks(seed, { stacks: 400, isSigned: seed === 3 });
    const exact = new Map();
    for (const [stack, value] of Object.entries(stacks)) {
      const names = stack.split(";");
      for (const name of new Set(names)) {
        const [self, total] = exact.get(name) ?? [0, 0];
        exact.set(name, [self + (names.at(-1) === name ? value : 0), total + value]);
      }
    }

    for (const row of rowsOf(treeOf(stacks))) assert.deepEqual([row.self, row.total], exact.get(row.name), row.name);
  }
});

test("a difference adds up both sides and their change", () => {
  const row = rowNamed(rowsOf(diffOf({ "a;leak": [10, 50], "b;leak": [1, 0] })), "leak");

  assert.deepEqual([row.self, row.selfAfter, row.selfChange, row.totalChange], [11, 50, 39, 39]);
});

test("a stack of 10,000 frames adds up", () => {
  const depth = 10_000;
  const columns = {
    nch: [...Array(depth).fill(1), 0],
    name: Array(depth + 1).fill(0),
    self: [...Array(depth).fill(1), 1],
    self2: null,
    strings: ["again"],
  };

  const [row] = rowsOf(layoutTree(decode(encode(columns))));

  assert.deepEqual([row.self, row.total, row.frames], [depth, depth, depth]);
});

test("rows are filtered by all words, whatever their case, and sorted by a column", () => {
  const rows = [
    { name: "B::put", self: 1, total: 5 },
    { name: "a::put", self: 3, total: 3 },
    { name: "other", self: 2, total: 9 },
  ];
  const names = (options) => arrangeRows(rows, options).map(({ name }) => name);

  assert.deepEqual(names({}), ["a::put", "other", "B::put"]);
  assert.deepEqual(names({ sort: "-total" }), ["other", "B::put", "a::put"]);
  assert.deepEqual(names({ sort: "name" }), ["B::put", "a::put", "other"]);
  assert.deepEqual(names({ filter: "PUT b" }), ["B::put"]);
  assert.deepEqual(names({ filter: "nothing" }), []);
});

test("an empty profile has no functions", () => {
  assert.deepEqual(rowsOf(treeOf({})), []);
});
