import assert from "node:assert/strict";
import test from "node:test";
import { baseWords } from "../../frontend/js/base-words.js";
import { decode } from "../../frontend/js/fgb2.js";
import { bottomUp } from "../../frontend/js/inverted.js";
import { layoutTree } from "../../frontend/js/layout.js";
import { applyTransforms } from "../../frontend/js/transforms.js";
import { encodeStacks } from "./encode.mjs";
import { nodeOf } from "./trees.mjs";

const TYPE = { name: "outstanding_bytes", unit: "bytes", is_signed: false };
const STACKS = { "main;serve": 768, "main;load": 256 };
const columnsOf = (stacks, header = {}) => decode(encodeStacks(stacks, { header }));
const words = (columns, stack = "") => {
  const tree = layoutTree(columns);
  return baseWords(tree, stack ? nodeOf(tree, stack) : 0, TYPE).replaceAll("\u00a0", " ");
};

test("the whole of a run hides nothing, and a part of it says which", () => {
  assert.equal(words(columnsOf(STACKS)), "100 % is 1.0 kB, the whole run. Nothing is hidden.");
  assert.equal(words(columnsOf(STACKS), "main;serve"), "The view is 768 B, 75.0 % of all. Nothing is hidden.");
});

test("what a step left out is said as a share of the run", () => {
  const left = applyTransforms(columnsOf(STACKS, { total: 1024 }), [{ kind: "leave-out", name: "load" }]);

  assert.equal(words(left), "100 % is 768 B of the run's 1.0 kB, 75.0 %. Nothing is hidden.");
});

test("an overview, and callers that are too narrow, are never called whole", () => {
  const overview = { least: 1, kept: 3, of: 9 };
  const narrow = { "main;wide": 10_000_000, "main;a;narrow": 1 };

  assert.match(words(columnsOf(STACKS, { overview })), /under a 2000th of it count as their callers' own\.$/);
  assert.match(words(bottomUp(columnsOf(narrow))), /1 frame is too narrow for callers to be seen/);
});

test("a snapshot that was thinned out is not called whole either", () => {
  const tree = layoutTree(columnsOf(STACKS));

  assert.match(
    baseWords(tree, 0, TYPE, { thinned: "Thinned out on 1 Dec." }),
    /the whole run\. Thinned out on 1 Dec\.$/,
  );
});
