import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import test from "node:test";
import { decode } from "../../frontend/js/fgb2.js";
import { layoutTree } from "../../frontend/js/layout.js";
import { compilePattern, matchNames, matchNodes } from "../../frontend/js/search.js";
import { functionRows, functionValues } from "../../frontend/js/top-table.js";
import { stacksOfTree } from "./encode.mjs";

// tests/view holds graphs that Python wrote, with what was counted from their stacks by hand.
const folder = new URL("../view/", import.meta.url);
const graphs = readdirSync(folder)
  .filter((file) => file.endsWith(".json") && existsSync(new URL(file.replace(/json$/, "fgb2"), folder)))
  .map((file) => file.replace(/\.json$/, ""));

function load(name) {
  const { buffer, byteOffset, byteLength } = readFileSync(new URL(`${name}.fgb2`, folder));
  const tree = layoutTree(decode(buffer.slice(byteOffset, byteOffset + byteLength)));
  return { tree, expected: JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8")).expected };
}

const sides = (one, two) => (two === undefined || two === null ? [one] : [one, two]);
const totals = (tree, i) => sides(tree.total[i], tree.total2?.[i]);

function pathsOf(tree) {
  const paths = [[]];
  for (let i = 1; i < tree.n; i++) paths.push([...paths[tree.parent[i]], tree.strings[tree.names[i]]]);
  return paths;
}

test("there are graphs to read", () => assert.equal(graphs.length, 7));

for (const name of graphs) {
  test(`${name}: every path has the total counted from the stacks`, () => {
    const { tree, expected } = load(name);

    const found = pathsOf(tree).map((path, i) => [path, totals(tree, i)]);

    const byPath = (rows) => new Map(rows.map(([path, values]) => [JSON.stringify(path), values]));
    assert.deepEqual(totals(tree, 0), expected.total);
    assert.deepEqual(byPath(found.slice(1)), byPath(expected.paths));
  });

  test(`${name}: every function has the values counted from the stacks`, () => {
    const { tree, expected } = load(name);

    const rows = functionRows(tree.strings, functionValues(stacksOfTree(tree)));

    const found = rows.map((row) => [
      row.name,
      { self: sides(row.self, row.selfAfter), total: sides(row.total, row.totalAfter) },
    ]);
    assert.deepEqual(Object.fromEntries(found), expected.functions);
  });

  test(`${name}: searches match the totals counted from the stacks`, () => {
    const { tree, expected } = load(name);

    for (const [text, matched] of Object.entries(expected.searches)) {
      const found = matchNodes(tree, matchNames(tree.strings, compilePattern(text).regex));
      assert.deepEqual(sides(found.total, tree.total2 ? found.total2 : undefined), matched, text);
    }
  });
}
