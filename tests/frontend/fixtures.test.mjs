import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";
import { decode } from "../../frontend/js/fgb2.js";
import { findPath } from "../../frontend/js/frame-path.js";
import { layoutTree } from "../../frontend/js/layout.js";
import { matchNames, matchNodes } from "../../frontend/js/search.js";
import { functionRows, functionValues } from "../../frontend/js/top-table.js";
import { stacksOfTree } from "./encode.mjs";

// Payloads written by Python with what must be found in them, which Python counted from the stacks.
const folder = new URL("../view/", import.meta.url);
const names = readdirSync(folder)
  .filter((file) => file.endsWith(".fgb2"))
  .map((file) => file.slice(0, -5));

function graphNamed(name) {
  const { buffer, byteOffset, byteLength } = readFileSync(new URL(`${name}.fgb2`, folder));
  const { expected } = JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8"));
  return { tree: layoutTree(decode(buffer.slice(byteOffset, byteOffset + byteLength))), expected };
}

const sidesOf = (tree, before, after) => (tree.total2 ? [before, after] : [before]);

test("there are graphs to read", () => {
  assert.ok(names.length >= 7);
});

for (const name of names) {
  test(`${name}: the total and each path hold what the stacks hold`, () => {
    const { tree, expected } = graphNamed(name);

    assert.deepEqual(sidesOf(tree, tree.total[0], tree.total2?.[0]), expected.total);
    for (const [path, total] of expected.paths) {
      const { node, missing } = findPath(tree, path);
      assert.equal(missing, 0, path.join(";"));
      assert.deepEqual(sidesOf(tree, tree.total[node], tree.total2?.[node]), total, path.join(";"));
    }
    assert.equal(tree.n, expected.paths.length + 1);
  });

  test(`${name}: each function has its self and total, recursion counted once`, () => {
    const { tree, expected } = graphNamed(name);

    const found = functionRows(tree.strings, functionValues(stacksOfTree(tree))).map((row) => {
      return [
        row.name,
        { self: sidesOf(tree, row.self, row.selfAfter), total: sidesOf(tree, row.total, row.totalAfter) },
      ];
    });

    assert.deepEqual(Object.fromEntries(found), expected.functions);
  });

  test(`${name}: each search has its matched total, nested matches counted once`, () => {
    const { tree, expected } = graphNamed(name);

    for (const [text, total] of Object.entries(expected.searches)) {
      const found = matchNodes(tree, matchNames(tree.strings, new RegExp(text)));
      assert.deepEqual(sidesOf(tree, found.total, found.total2), total, text);
    }
  });
}
