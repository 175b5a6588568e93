import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";

const folder = new URL("../../frontend/js/", import.meta.url);
const sources = readdirSync(folder)
  .filter((name) => name.endsWith(".js"))
  .map((name) => [name, readFileSync(new URL(name, folder), "utf8")]);
const importsOf = (text) => [...text.matchAll(/from "\.\/([\w-]+\.js)"/g)].map(([, name]) => name);

// Modules that compute; all others touch the page.
const PURE = [
  "address-text.js",
  "age-bands.js",
  "ages.js",
  "alignment-text.js",
  "allocators.js",
  "base-words.js",
  "change-kinds.js",
  "colours.js",
  "diff.js",
  "draw-list.js",
  "fgb2.js",
  "file-address.js",
  "format.js",
  "frame-markdown.js",
  "frame-path.js",
  "frame-words.js",
  "gone.js",
  "grade.js",
  "inverted.js",
  "keys.js",
  "layout.js",
  "measure.js",
  "module-names.js",
  "nesting.js",
  "palette.js",
  "plateaus.js",
  "quality-words.js",
  "quality.js",
  "run-finding.js",
  "run-view.js",
  "search.js",
  "side-widths.js",
  "text-fit.js",
  "text-list.js",
  "timeline.js",
  "time-ago.js",
  "top-table.js",
  "transform-address.js",
  "transforms.js",
  "tree-builder.js",
  "url-state.js",
  "views.js",
  "wanted.js",
  "worker-client.js",
  "worker.js",
];

test("pure modules never name the document, and use only each other", () => {
  for (const [name, text] of sources.filter(([name]) => PURE.includes(name))) {
    assert.doesNotMatch(text, /\b(document|window|localStorage)\b/, name);
    for (const used of importsOf(text)) assert.ok(PURE.includes(used), `${name} uses ${used}`);
  }
  assert.deepEqual(
    PURE.filter((name) => !sources.some(([known]) => known === name)),
    [],
  );
});

test("no file writes markup or runs text: frame names are hostile", () => {
  for (const [name, text] of sources)
    assert.doesNotMatch(text, /\b(innerHTML|outerHTML|insertAdjacentHTML|eval|new Function|document\.write)\b/, name);
});

test("no file sets a style attribute, which the policy forbids", () => {
  for (const [name, text] of sources) assert.doesNotMatch(text, /setAttribute\("style"|attr\("style"/, name);
});

test("no file names another host", () => {
  for (const [name, text] of sources)
    assert.doesNotMatch(text.replaceAll("http://www.w3.org/2000/svg", ""), /https?:\/\//, name);
});

test("no file is longer than 400 lines", () => {
  for (const [name, text] of sources) assert.ok(text.split("\n").length <= 400, name);
});

test("each script that a template names is there", () => {
  const templates = new URL("../../webapp/templates/", import.meta.url);
  const named = ["base.html", "flamegraph/figure.html", "flamegraph/run.html", "compare/compare.html"]
    .map((path) => readFileSync(new URL(path, templates), "utf8"))
    .flatMap((text) => [...text.matchAll(/static 'js\/([\w-]+\.js)'/g)])
    .map(([, name]) => name);

  assert.ok(named.includes("worker.js") && named.includes("run-page.js"));
  for (const name of named) assert.ok(new Map(sources).has(name), name);
});

test("what every page loads is small: no d3", () => {
  const reached = new Set(["site.js"]);
  for (const name of reached) for (const used of importsOf(new Map(sources).get(name))) reached.add(used);
  for (const name of reached) assert.doesNotMatch(new Map(sources).get(name), /vendor\/d3/, name);
});
