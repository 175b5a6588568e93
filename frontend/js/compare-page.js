// The page of a comparison: two sides, one graph of their union, what changed by function, and it all in one sentence.
import { meaningAmong } from "./age-bands.js";
import { showCaptures, showSides } from "./compare-sides.js";
import { hiddenWords } from "./base-words.js";
import { copyOnClick } from "./copy.js";
import { finding } from "./diff.js";
import { element, note, part, setText } from "./dom.js";
import { bindDownloads } from "./downloads.js";
import { formatChange, formatCount, formatOfOwn, formatPercent, formatValue } from "./format.js";
import { filled, unitOf } from "./run-view.js";
import { bindTable, changeBar } from "./table-view.js";
import { readState, writeState } from "./url-state.js";
import { showTypes } from "./value-types.js";
import { bindViewer } from "./viewer.js";
import { DIFFERENCE_READING } from "./views.js";

const root = document.querySelector("[data-page=compare]");
const viewer = bindViewer(root, {
  title,
  base,
  functions,
  selected,
  changed: writeAddress,
  link,
  inOneFile,
  reading: DIFFERENCE_READING,
});
const table = bindTable(tableParts(), {
  columns: changeColumns(),
  note: "Totals include what a function called, so rows overlap and do not add up.",
  sort: "-selfChange",
  onRow: (name) => viewer.goTo(name),
  onSort: () => writeAddress("replace"),
});
const page = { comparison: null, type: "" };

start();

async function start() {
  applyAddress();
  addEventListener("popstate", () => (applyAddress(), show()));
  copyOnClick(part(root, "copy-page"), () => location.href);
  copyOnClick(part(root, "copy-finding"), reviewText);
  part(root, "swap").addEventListener("click", swapHere);
  await show();
  if (page.comparison) showCaptures(root, page.comparison);
}

function applyAddress() {
  // A link of the page without script says in its query what the fragment says otherwise.
  const state = readState(location.hash || location.search.replace("?", "#"));
  viewer.apply(state);
  if (state.sort) table.setSort(state.sort);
  page.type = state.type;
  setText(part(root, "address-note"), state.gone.join(" "));
}

async function show() {
  try {
    if (!page.comparison || (page.type && page.comparison.value_type.name !== page.type))
      page.comparison = await fetchComparison();
  } catch (error) {
    return fail(error.message);
  }
  const { comparison } = page;
  const type = comparison.value_type;
  page.type = type.name;
  showSides(root, comparison, type);
  showTypes(part(root, "types"), comparison.value_types, { chosen: type.name, totalOf: () => "", choose: chooseType });
  part(root, "meaning").replaceChildren(
    element("b", {}, meaningAmong(type, comparison.value_types)),
    ", after minus before. A frame is as wide as its larger side, so nothing that vanished is missing.",
  );
  part(root, "warnings").replaceChildren(...comparison.warnings.map((words) => note("warn", "i-warn", words, "")));
  const fill = (stage) =>
    filled(comparison.payload_url, { value_type: type.name, tag: [comparison.tag].flat()[0], stage });
  root.dataset.shown = type.name;
  viewer.offerPresets(comparison.code_presets);
  await viewer.show({ overview: fill("overview"), full: fill("full") }, { unit: unitOf(type) });
}

async function fetchComparison() {
  const response = await fetch(
    root.dataset.compareUrl + (page.type ? `?value_type=${encodeURIComponent(page.type)}` : ""),
  );
  if (response.ok) return withType(await response.json());
  const { error } = await response.json().catch(() => ({}));
  throw new Error(error ?? `The site answered ${response.status} when asked to compare. Reload the page.`);
}

// The value type is named or described, whichever the site sends; what is shown needs the description.
function withType(comparison) {
  const named = comparison.value_type.name ?? comparison.value_type;
  return { ...comparison, value_type: comparison.value_types.find(({ name }) => name === named) };
}

function fail(words) {
  const line = part(root, "problem");
  setText(line, words);
  line.hidden = false;
  document.documentElement.dataset.viewer = "ready";
}

function chooseType(name) {
  page.type = name;
  writeAddress("push");
  show();
}

function title() {
  return part(root, "title").textContent.trim();
}

function base(tree, focus) {
  const type = page.comparison.value_type;
  const share = focus === 0 ? "" : `, ${formatPercent(tree.width[focus] / tree.width[0])} of the whole width`;
  return `Width is ${formatValue(tree.width[focus], unitOf(type))}, the larger side of each path${share}. ${hiddenWords(tree)}`;
}

function functions(tree, rows) {
  const unit = unitOf(page.comparison.value_type);
  const pieces = finding(tree, rows, unit);
  part(root, "finding").replaceChildren(
    ...pieces.map(({ text, kind }) =>
      kind === "code" ? element("code", {}, text) : kind ? element("b", { class: kind }, text) : text,
    ),
  );
  const { grew, shrank } = viewer.movements();
  setText(part(root, "change-parts"), `${formatValue(grew[0], unit)} grew, ${formatValue(shrank[0], unit)} shrank`);
  table.show(rows, { unit, largest: rows.reduce((most, { selfChange }) => Math.max(most, Math.abs(selfChange)), 0) });
}

function selected(name) {
  table.select(name);
}

function changeColumns() {
  const orDash = (value, unit) => (value === 0 ? "–" : formatValue(value, unit));
  return [
    { title: "Function", className: "fn", sort: "name" },
    {
      title: "Shrank | grew",
      className: "c2",
      cell: ({ selfChange }, { largest }) => changeBar(largest ? selfChange / largest : 0),
    },
    { title: "Self before", className: "n c1", sort: "self", cell: ({ self }, { unit }) => orDash(self, unit) },
    {
      title: "Self after",
      className: "n c1",
      sort: "selfAfter",
      cell: ({ selfAfter }, { unit }) => orDash(selfAfter, unit),
    },
    {
      title: "Self change",
      className: "n",
      sort: "selfChange",
      cell: ({ selfChange }, { unit }) => change(selfChange, unit),
    },
    { title: "Of own before", className: "n", cell: ({ self, selfAfter }) => ofOwn(self, selfAfter) },
    {
      title: "Total change",
      className: "n c1",
      sort: "totalChange",
      cell: ({ totalChange }, { unit }) => change(totalChange, unit),
    },
  ];
}

function change(value, unit) {
  return element(
    "span",
    { class: value > 0 ? "grew" : value < 0 ? "shrank" : "quiet" },
    value === 0 ? "–" : formatChange(value, unit),
  );
}

function ofOwn(before, after) {
  const words = formatOfOwn(before, after);
  return ["new", "gone"].includes(words) ? element("span", { class: "tag" }, words) : words;
}

function reviewText() {
  const { before, after } = page.comparison;
  return `${part(root, "finding").textContent}\n${before.run} (${before.deploy || formatCount(before.seq)}) → ${after.run} (${after.deploy || formatCount(after.seq)}): ${location.href}\n`;
}

function addressState(over = {}) {
  return { ...viewer.state(), type: page.type, sort: table.sort() === "-selfChange" ? "" : table.sort(), ...over };
}

function link(state) {
  return location.href.replace(/#.*$/, "") + writeState(addressState(state));
}

function inOneFile() {
  return `${location.pathname}/export/html?${new URLSearchParams({ value_type: page.type })}`;
}

function writeAddress(how) {
  if (!page.comparison) return;
  const fragment = writeState(addressState());
  if (fragment === location.hash) return;
  history[how === "push" ? "pushState" : "replaceState"](null, "", fragment);
}

// The other way round with the same zoom and search.
function swapHere({ currentTarget }) {
  currentTarget.hash = writeState(addressState());
}

function tableParts() {
  return {
    table: part(root, "functions"),
    filter: part(root, "filter"),
    count: part(root, "count"),
    more: part(root, "more"),
  };
}

bindDownloads(root, () => ({ value_type: page.type, view: viewer.state().view }));
window.memflame = { frameRect: viewer.boxOf, shadeOf: viewer.shadeOf, tree: viewer.tree };
