import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { foldAllocators, isAllocator } from "../../frontend/js/allocators.js";
import { decode } from "../../frontend/js/fgb2.js";
import { layoutTree, selfOf } from "../../frontend/js/layout.js";
import { arrangeRows, functionRows, functionValues } from "../../frontend/js/top-table.js";
import { encodeStacks, stacksOfTree } from "./encode.mjs";
import { nodeOf } from "./trees.mjs";

const foldedTree = (stacks, options) => {
  const { columns, folded } = foldAllocators(decode(encodeStacks(stacks, options)));
  return { tree: layoutTree(columns), folded };
};

test("what malloc holds counts as its caller's", () => {
  const { tree, folded } = foldedTree({
    "main;leak;malloc": 40,
    "main;make;operator new(unsigned long);malloc": 8,
    "main;leak": 2,
  });

  assert.deepEqual(folded, ["malloc", "operator new(unsigned long)"]);
  assert.equal(selfOf(tree, nodeOf(tree, "main;leak")), 42);
  assert.equal(selfOf(tree, nodeOf(tree, "main;make")), 8);
  assert.deepEqual([tree.n, tree.total[0]], [4, 50]);
});

test("an allocator that calls other code stays", () => {
  const { tree } = foldedTree({ "main;malloc;hook": 7, "main;malloc": 1 });

  assert.equal(tree.total[nodeOf(tree, "main;malloc;hook")], 7);
});

test("an allocator right below the root stays, it has no caller", () => {
  const { tree, folded } = foldedTree({ malloc: 5 });

  assert.deepEqual([tree.n, folded], [2, []]);
});

test("both sides of a difference are counted", () => {
  const { tree } = foldedTree({ "f;malloc": [3, 9], "f;free_list": [1, 1] }, { isDiff: true });

  assert.deepEqual([tree.total[nodeOf(tree, "f")], tree.total2[nodeOf(tree, "f")], tree.n], [4, 10, 3]);
});

test("faults inside an allocator are its own", () => {
  const { folded } = foldedTree({ "f;malloc": 3 }, { header: { value_type: { unit: "faults" } } });

  assert.deepEqual(folded, []);
});

// Python makes the table of pages without script by the same list and rule.
const { allocators, others, graphs } = JSON.parse(
  readFileSync(new URL("../view/allocators.json", import.meta.url), "utf8"),
);

test("names that only look like allocators are functions like others", () => {
  assert.deepEqual(
    allocators.filter((name) => !isAllocator(name)),
    [],
  );
  assert.deepEqual(others.filter(isAllocator), []);
});

for (const { about, value_type: name, unit, stacks, all, rows } of graphs) {
  test(`the table of functions: ${about}`, () => {
    const { tree } = foldedTree(stacks, { header: { value_type: { name, unit } } });

    const found = arrangeRows(functionRows(tree.strings, functionValues(stacksOfTree(tree))), { sort: "-self" });

    assert.deepEqual(
      found.map((row) => [row.name, row.self, row.total]),
      rows,
    );
    assert.equal(tree.width[0], all);
  });
}
