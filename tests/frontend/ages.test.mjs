import assert from "node:assert/strict";
import test from "node:test";
import { agesOf, totalsAlong } from "../../frontend/js/ages.js";
import { decode } from "../../frontend/js/fgb2.js";
import { layoutTree } from "../../frontend/js/layout.js";
import { bottomUp } from "../../frontend/js/inverted.js";
import { encodeStacks } from "./encode.mjs";
import { nodeOf, treeOf } from "./trees.mjs";

const columns = (stacks) => decode(encodeStacks(stacks));

test("values of other payloads are found by path, whatever their order and names", () => {
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`a;f${i}`, i + 1]));
  const tree = treeOf({ ...many, "b;x": 7 });

  const total = totalsAlong(tree, columns({ "a;f3": 5, "a;f39": 6, "b;x": 1, "c;new": 9 }));

  assert.deepEqual(
    ["a;f3", "a;f39", "a", "b;x", "b"].map((path) => total[nodeOf(tree, path)]),
    [5, 6, 11, 1, 1],
  );
  assert.equal(total[0], 12);
});

test("a frame has the age that half of its bytes have reached", () => {
  const tree = treeOf({ a: 10, b: 10, c: 10 });
  const bands = [
    { a: 9, b: 1, c: 0 },
    { a: 1, b: 3, c: 0 },
    { a: 0, b: 6, c: 0 },
  ].map((stacks) => totalsAlong(tree, columns(stacks)));
  const ages = agesOf(bands);
  const bandOf = (name, youngest) => ages.bandOf(nodeOf(tree, name), youngest);

  assert.deepEqual([bandOf("a"), bandOf("b"), bandOf("c")], [0, 2, -1]);
  assert.deepEqual([bandOf("a", 1), bandOf("a", 2), bandOf("b", 1)], [1, -1, 2]);
  assert.deepEqual(
    [0, 1, 2].map((band) => ages.step(band, 4)),
    [1, 2, 3],
  );
});

test("ages of a tree turned round are found too", () => {
  const tree = layoutTree(bottomUp(columns({ "main;a;leaf": 3, "main;b;leaf": 4 })));

  const total = totalsAlong(tree, bottomUp(columns({ "main;b;leaf": 4 })));

  assert.deepEqual([total[nodeOf(tree, "leaf")], total[nodeOf(tree, "leaf;a")], total[0]], [4, 0, 4]);
});
