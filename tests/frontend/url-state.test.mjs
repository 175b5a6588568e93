import assert from "node:assert/strict";
import test from "node:test";
import { findPath, isSamePath } from "../../frontend/js/frame-path.js";
import { findHash, pathHash, readState, writeState } from "../../frontend/js/url-state.js";
import { nodeOf, treeOf } from "./trees.mjs";

const full = {
  type: "outstanding_bytes",
  snapshot: 3,
  since: 2,
  other: { since: 0, seq: 2 },
  focus: ["main", "a;b=c&d#e", "std::vector<int>::push"],
  range: [0.25, 0.5],
  selected: ["main", "x"],
  search: "^a|b$ &#=",
  view: "flame",
  fn: "",
  transforms: [
    { kind: "hide-function", name: "a;b~c:d" },
    { kind: "focus", path: ["x;y", "z~"] },
    { kind: "only-code", pattern: "^app::|~", title: "ours" },
    { kind: "recursion" },
  ],
  measure: { width: "moved", scale: "share", isBeside: true },
  rules: "hashes;~a+~b",
  colour: { mode: "age", youngest: 2 },
  marks: true,
  sort: "-total",
  keepsAllocators: true,
};

test("what is written is read back", () => {
  assert.deepEqual(readState(writeState(full)), { ...full, gone: [] });
});

test("writing is stable, and the default view is short", () => {
  assert.equal(writeState(full), writeState(readState(writeState(full))));
  assert.equal(writeState({ type: "calls", view: "icicle", focus: [] }), "#v=1&t=calls");
});

test("a second brush on an interval is written with both ends", () => {
  const other = { since: 4, seq: 9 };

  assert.match(writeState({ ...full, other }), /&s=3&from=2&b=4-9&/);
  assert.deepEqual(readState("#v=1&s=3&b=4-9").other, other);
  assert.deepEqual(
    ["b=x-9", "b=x", "b=-3-4"].map((text) => readState(`#v=1&${text}`).other),
    [null, null, null],
  );
});

test("a sandwich is read with its function, and not without", () => {
  const state = readState(writeState({ ...full, view: "sandwich", fn: "std::map<int, long>::find" }));

  assert.deepEqual([state.view, state.fn], ["sandwich", "std::map<int, long>::find"]);
  assert.equal(readState("#v=1&view=sandwich").view, "icicle");
});

test("a step that is not known is told, the others are kept", () => {
  const { transforms, gone } = readState("#v=1&steps=constructor;hide-function;recursion;fold-in:x");

  assert.deepEqual(transforms, [{ kind: "recursion" }]);
  assert.equal(gone.length, 3);
});

test("hostile fragments are read as nothing", () => {
  const state = readState("#v=1&s=-4&x=9-2&sort=<b>&view=table&t=%E0%A4%A&f=");

  assert.deepEqual([state.snapshot, state.range, state.sort, state.view, state.focus], [0, null, "", "icicle", []]);
  assert.deepEqual(readState(""), {
    type: "",
    snapshot: 0,
    since: 0,
    other: null,
    focus: [],
    range: null,
    selected: [],
    search: "",
    view: "icicle",
    fn: "",
    transforms: [],
    measure: { width: "larger", scale: "counted", isBeside: false },
    rules: "",
    colour: { mode: "", youngest: 0 },
    marks: false,
    sort: "",
    keepsAllocators: false,
    gone: [],
  });
});

test("another version says that some of it may be missing", () => {
  assert.match(readState("#v=2&t=calls").gone[0], /version 2/);
});

test("half a surrogate pair in a name does not stop the page", () => {
  assert.deepEqual(readState(writeState({ focus: ["\ud800x", "🔥"] })).focus, ["\ufffdx", "🔥"]);
});

test("a path finds its frame again in another tree", () => {
  const tree = treeOf({ "main;a;b": 1, "main;a;c": 9, other: 50 });

  assert.deepEqual(findPath(tree, ["main", "a", "b"]), { node: nodeOf(tree, "main;a;b"), missing: 0 });
});

test("of a path that is gone the deepest frame that is left is found", () => {
  const tree = treeOf({ "main;a;b": 1 });

  assert.deepEqual(findPath(tree, ["main", "a", "x", "y"]), { node: nodeOf(tree, "main;a"), missing: 2 });
});

test("a path too long for an address is written as its hash and found by it", () => {
  const names = Array.from({ length: 400 }, (_, i) => `frame_with_a_long_name_${i}`);
  const tree = treeOf({ [names.join(";")]: 1, other: 2 });

  const { focus } = readState(writeState({ focus: names }));

  assert.deepEqual(focus, { hash: pathHash(names), last: "frame_with_a_long_name_399" });
  assert.equal(findHash(tree, focus.hash), nodeOf(tree, names.join(";")));
  assert.equal(findHash(tree, "0".repeat(16)), -1);
});

test("a link that has a path as its hash is written again as it was read", () => {
  const names = Array.from({ length: 400 }, (_, i) => `frame_with_a_long_name_${i}`);
  const written = writeState({ focus: names, selected: ["main"] });

  const read = readState(written);

  assert.equal(writeState({ focus: read.focus, selected: read.selected }), written);
  assert.ok(isSamePath(read.focus, readState(written).focus));
  assert.ok(!isSamePath(read.focus, names) && !isSamePath(read.focus, []));
});
