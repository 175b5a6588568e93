import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { decode } from "../../frontend/js/fgb2.js";
import { layoutTree, selfOf } from "../../frontend/js/layout.js";
import { viewOf } from "../../frontend/js/views.js";
import { encodeStacks } from "./encode.mjs";

// Stacks with what each step and view makes of them, which tests/view/test_transforms.py works out stack by stack.
const { stacks, cases } = JSON.parse(readFileSync(new URL("../view/transforms.json", import.meta.url), "utf8"));
const SANDWICHES = { callers: "callers", callees: "main" };

const keyOf = (names) => names.join(";");
const columnsNow = () =>
  decode(encodeStacks(Object.fromEntries(stacks.map(([names, value]) => [keyOf(names), value]))));

function drawn({ view, fn = "", steps }) {
  const wanted = { view: SANDWICHES[view] ? "sandwich" : view, fn, transforms: steps, path: [] };
  return layoutTree(viewOf(columnsNow(), wanted)[SANDWICHES[view] ?? "main"]);
}

function pathsOf(tree) {
  const paths = [[]];
  for (let i = 1; i < tree.n; i++) paths.push([...paths[tree.parent[i]], tree.strings[tree.names[i]]]);
  return paths;
}

const sum = (rows) => rows.reduce((total, [, value]) => total + value, 0);
const sorted = (rows) => rows.map(([names, value]) => [keyOf(names), value]).sort();

for (const each of cases) {
  test(`${each.about}: the stacks that Python counted, and every total adds up`, () => {
    const tree = drawn(each);
    const paths = pathsOf(tree);

    const found = paths.map((names, i) => [names, selfOf(tree, i)]).filter(([, self]) => self !== 0);

    assert.deepEqual(sorted(found), sorted(each.stacks));
    paths.forEach((path, i) => {
      const through = each.stacks.filter(([names]) => path.every((name, depth) => names[depth] === name));
      assert.equal(tree.total[i], sum(through), keyOf(path));
    });
  });
}
