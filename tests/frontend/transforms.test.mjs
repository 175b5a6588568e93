import assert from "node:assert/strict";
import test from "node:test";
import { decode } from "../../frontend/js/fgb2.js";
import { bottomUp, sandwich } from "../../frontend/js/inverted.js";
import { layoutTree, selfOf } from "../../frontend/js/layout.js";
import { moduleOf, NO_MODULE } from "../../frontend/js/module-names.js";
import { applyTransforms } from "../../frontend/js/transforms.js";
import { functionValues } from "../../frontend/js/top-table.js";
import { encodeStacks, randomStacks, stacksOfTree } from "./encode.mjs";

const columnsFor = (stacks, options) => decode(encodeStacks(stacks, options));
const transformed = (stacks, ...transforms) => stacksIn(applyTransforms(columnsFor(stacks), transforms));

/** {"a;b": 10} of columns. */
function stacksIn(columns) {
  const tree = layoutTree(structuredClone(columns));
  const paths = [""];
  const found = {};
  for (let i = 1; i < tree.n; i++) {
    const above = paths[tree.parent[i]];
    paths[i] = `${above}${above && ";"}${tree.strings[tree.names[i]]}`;
    const values = tree.total2 ? [columns.self[i], columns.self2[i]] : columns.self[i];
    if ([values].flat().some(Boolean)) found[paths[i]] = values;
  }
  if (columns.self[0]) found[""] = columns.self[0];
  return found;
}

test("a hidden function counts as its callers', and what it called is joined with what they called", () => {
  const stacks = { "main;wrap;read": 3, "main;read": 4, "main;wrap": 5, wrap: 6 };

  assert.deepEqual(transformed(stacks, { kind: "hide-function", name: "wrap" }), { "main;read": 7, main: 5, "": 6 });
});

test("focus on a function gathers it from everywhere, nested ones once", () => {
  const stacks = { "a;f;x": 1, "b;f;x": 2, "b;f;g;f": 4, b: 8 };

  assert.deepEqual(transformed(stacks, { kind: "focus-function", name: "f" }), { "f;x": 3, "f;g;f": 4 });
});

test("focus on a frame keeps that path only", () => {
  const stacks = { "a;f;x": 1, "b;f;x": 2, "b;f": 5 };

  assert.deepEqual(transformed(stacks, { kind: "focus", path: ["b", "f"] }), { "f;x": 2, f: 5 });
});

test("stacks through a function can be left out", () => {
  assert.deepEqual(transformed({ "a;f;x": 1, "a;b": 2, f: 3 }, { kind: "leave-out", name: "f" }), { "a;b": 2 });
});

test("only the code that matches stays, what it called counts as its own", () => {
  const stacks = { "start;app::main;std::sort;app::less": 1, "start;app::main;std::sort": 2, start: 4 };

  assert.deepEqual(transformed(stacks, { kind: "only-code", pattern: "^app::" }), {
    "app::main;app::less": 1,
    "app::main": 2,
    "": 4,
  });
});

test("stacks that match are kept whole, what ends above the match is not", () => {
  const stacks = { "a;b;hit;c": 1, "a;b": 2, "a;d": 4, "hit;e": 8 };

  assert.deepEqual(transformed(stacks, { kind: "keep-matches", pattern: "^hit$" }), { "a;b;hit;c": 1, "hit;e": 8 });
});

test("recursion is collapsed, through other functions too", () => {
  const stacks = { "f;f;f;x": 1, "f;g;f;x": 2, "f;x": 4, "f;g": 8 };

  assert.deepEqual(transformed(stacks, { kind: "recursion" }), { "f;x": 7, "f;g": 8 });
});

test("functions of one module that call each other are one frame", () => {
  const stacks = { "std::a;std::b;app::f;std::c": 1, "std::d;app::f": 2 };

  assert.deepEqual(transformed(stacks, { kind: "modules" }), { "std;app;std": 1, "std;app": 2 });
});

test("transforms work on both sides of a difference, one after the other", () => {
  const columns = columnsFor({ "a;f;x": [1, 2], "b;f;g;x": [4, 0], b: [9, 9] }, { isDiff: true });
  const chain = [
    { kind: "focus-function", name: "f" },
    { kind: "hide-function", name: "g" },
  ];

  assert.deepEqual(stacksIn(applyTransforms(columns, chain)), { "f;x": [5, 2] });
});

test("bottom up: functions by what they hold, below each its callers", () => {
  const columns = columnsFor({ "main;a;leaf": 3, "main;b;leaf": 4, "main;b": 5 });

  assert.deepEqual(stacksIn(bottomUp(columns)), { "leaf;a;main": 3, "leaf;b;main": 4, "b;main": 5 });
});

test("bottom up leaves out the callers of what is narrower than can be seen, and works them out below what is looked at", () => {
  const columns = columnsFor({ "main;big": 1e6, "main;a;small": 4, "main;b;small": 5 });

  const whole = bottomUp(columns);
  assert.deepEqual(stacksIn(whole), { "big;main": 1e6, small: 9 });
  assert.equal(whole.header.cut, 1);

  const near = bottomUp(columns, { path: ["small"] });
  assert.deepEqual(stacksIn(near), { "big;main": 1e6, "small;a;main": 4, "small;b;main": 5 });
  assert.equal(near.header.cut, 0);
});

test("a sandwich has all callers and all callees of a function, nested ones once", () => {
  const columns = columnsFor({ "main;f;x": 1, "main;g;f;f;x": 2, "main;g": 4 });
  const { callers, callees } = sandwich(columns, "f");

  assert.deepEqual(stacksIn(callers), { main: 1, "g;main": 2 });
  assert.deepEqual(stacksIn(callees), { x: 1, "f;x": 2 });
  assert.deepEqual([callers.header.root, callees.header.root], ["f", "f"]);
});

const totalOf = (columns) => columns.self.reduce((sum, value) => sum + value, 0);

test("totals stay the same through all that only hides, merges or inverts", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const columns = columnsFor(randomStacks(seed, { isSigned: seed % 2 === 0 }));
    const before = [totalOf(columns), [...columns.self].join()];
    const trees = [
      ...[
        [{ kind: "hide-function", name: "f3" }],
        [{ kind: "only-code", pattern: "f1" }],
        [{ kind: "recursion" }],
        [{ kind: "modules" }],
        [{ kind: "recursion" }, { kind: "hide-function", name: "f1" }],
      ].map((chain) => applyTransforms(columns, chain)),
      bottomUp(columns),
    ];

    for (const tree of trees) {
      assert.equal(totalOf(tree), before[0]);
      layoutTree(structuredClone(tree));
    }
    assert.deepEqual([totalOf(columns), [...columns.self].join()], before, "the input stays as it is");
  }
});

test("callers and callees of a function have its total in the table", () => {
  const columns = columnsFor(randomStacks(7));
  const tree = layoutTree(structuredClone(columns));
  const values = functionValues(stacksOfTree(tree));
  for (let id = 0; id < tree.strings.length; id++) {
    const { callers, callees } = sandwich(columns, tree.strings[id]);

    assert.equal(totalOf(callers), values.total[id]);
    assert.equal(totalOf(callees), values.total[id]);
  }
});

test("keeping matches has the total that the search says", () => {
  const columns = columnsFor({ "a;hit;b;hit": 3, "a;c": 4, "hit;a": 5 });

  assert.equal(totalOf(applyTransforms(columns, [{ kind: "keep-matches", pattern: "hit" }])), 8);
});

test("recursion of 10,000 frames is collapsed without recursion of ours", () => {
  const columns = columnsFor({ [Array(10_000).fill("f").join(";")]: 1 });

  assert.deepEqual(stacksIn(applyTransforms(columns, [{ kind: "recursion" }])), { f: 1 });
  assert.equal(layoutTree(bottomUp(columns)).rows.length, 10_002);
});

test("siblings stand in order of their width, for any number of them", () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`a;f${i}`, (i * 7919) % 301]));
  const tree = layoutTree(applyTransforms(columnsFor(many), [{ kind: "recursion" }]));
  for (let i = 3; i < tree.n; i++) assert.ok(tree.width[i - 1] >= tree.width[i]);
  assert.equal(selfOf(tree, 2), 300);
});

test("a function's name tells its module, in every language that writes it", () => {
  const modules = {
    "libfoo.so.1+0x1f2": "libfoo.so.1",
    "[libc.so.6]": "libc.so.6",
    "std::vector<int, std::allocator<int> >::push_back(int const&)": "std",
    "(anonymous namespace)::make(int)": "(anonymous namespace)",
    "<alloc::vec::Vec<T> as core::iter::FromIterator<T>>::from_iter": "alloc",
    "tokio::runtime::task::raw::poll": "tokio",
    "github.com/acme/shop/cart.(*Cart).Add": "github.com/acme/shop/cart",
    "runtime.mallocgc": "runtime",
    "com.acme.shop.Cart.add": "com.acme.shop",
    "Ljava/util/HashMap;::resize": "java.util",
    "parse_row (app/rows.py:12)": "app/rows.py",
    do_syscall_64_k: NO_MODULE,
    "do_syscall_64_[k]": "[kernel]",
    malloc: NO_MODULE,
    "void app::run<int>(std::string)": "app",
    "operator new(unsigned long)": NO_MODULE,
  };
  for (const [name, module] of Object.entries(modules)) assert.equal(moduleOf(name), module, name);
});
