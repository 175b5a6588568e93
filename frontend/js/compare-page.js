// The page of a comparison: two sides, one graph of their union, what changed by function, and it all in one sentence.
import { meaningAmong } from "./age-bands.js";
import { bindAlignment } from "./alignment-form.js";
import { changeColumns } from "./change-columns.js";
import { kindOfRow } from "./change-kinds.js";
import { bindChangeLegend } from "./change-legend.js";
import { showCaptures, showSides } from "./compare-sides.js";
import { hiddenWords } from "./base-words.js";
import { copyOnClick } from "./copy.js";
import { finding } from "./diff.js";
import { element, note, part, setText } from "./dom.js";
import { bindDownloads } from "./downloads.js";
import { formatCount, formatPercent, formatValue } from "./format.js";
import { bindMeasures } from "./measure-switch.js";
import { filled, isSmall, unitOf } from "./run-view.js";
import { WIDTHS } from "./side-widths.js";
import { bindTable } from "./table-view.js";
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
  isKept,
  onRow: (name) => viewer.goTo(name),
  onSort: () => writeAddress("replace"),
});
const legend = bindChangeLegend(part(root, "changes"), {
  choose: (what) => viewer.toggleStep({ kind: "changed", what }),
});
const measures = bindMeasures(
  {
    width: part(root, "width"),
    scale: part(root, "scale"),
    beside: part(root, "two"),
    reason: part(root, "scale-reason"),
  },
  { choose: viewer.measure },
);
const alignment =
  part(root, "alignment") && bindAlignment(root, { url: `${root.dataset.compareUrl}/alignment`, choose: align });
const page = { comparison: null, type: "", rules: "" };

// Not while the script is read: a browser that tells who fetched what would have to read all of it again for that.
queueMicrotask(start);

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
  page.rules = state.rules;
  setText(part(root, "address-note"), state.gone.join(" "));
}

async function show() {
  try {
    if (!isThere(page)) page.comparison = await fetchComparison();
  } catch (error) {
    return fail(error.message);
  }
  const { comparison } = page;
  const type = comparison.value_type;
  page.type = type.name;
  page.rules = comparison.alignment.rules;
  alignment?.show(comparison.alignment, unitOf(type));
  showSides(root, comparison, type);
  showTypes(part(root, "types"), comparison.value_types, { chosen: type.name, totalOf: () => "", choose: chooseType });
  part(root, "meaning").replaceChildren(
    element("b", {}, meaningAmong(type, comparison.value_types)),
    ", after minus before.",
  );
  part(root, "warnings").replaceChildren(...comparison.warnings.map((words) => note("warn", "i-warn", words, "")));
  const fill = (stage) =>
    filled(comparison.payload_url, { value_type: type.name, tag: [comparison.tag].flat()[0], stage });
  root.dataset.shown = type.name;
  measures.show(viewer.state().measure, noHours());
  viewer.offerPresets(comparison.code_presets);
  await viewer.show(
    { overview: fill("overview"), full: fill("full"), isSmall: isSmall(comparison.nodes, comparison.overview_is_full) },
    { unit: unitOf(type), seconds: noHours() ? null : [comparison.before.covers_s, comparison.after.covers_s] },
  );
}

// Why numbers by the hour can't be told, "" when they can.
function noHours() {
  const sides = ["before", "after"].filter((side) => !(page.comparison[side].covers_s > 0));
  return sides.length ? `Not per hour: how long ${sides.join(" and ")} took is not known.` : "";
}

function isThere({ comparison, type, rules }) {
  const isOfType = comparison && (!type || comparison.value_type.name === type);
  return isOfType && (!rules || comparison.alignment.rules === rules);
}

async function fetchComparison() {
  const asked = Object.entries({ value_type: page.type, rules: page.rules }).filter(([, value]) => value);
  const query = asked.length ? `?${new URLSearchParams(asked)}` : "";
  const response = await fetch(root.dataset.compareUrl + query);
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
  part(root, "copy-finding").hidden = !page.comparison;
  document.documentElement.dataset.viewer = "ready";
}

function chooseType(name) {
  page.type = name;
  writeAddress("push");
  show();
}

function align(rules) {
  page.rules = rules;
  writeAddress("push");
  show();
}

function title() {
  return part(root, "title").textContent.trim();
}

function base(tree, focus) {
  const share =
    focus === 0 || !tree.width[0] ? "" : `, ${formatPercent(tree.width[focus] / tree.width[0])} of the whole width`;
  const { words } = WIDTHS[tree.header.widthBy ?? "larger"];
  return `Width is ${formatValue(tree.width[focus], viewer.unit())}, ${words}${share}. ${withoutWidth(tree)}`;
}

// What no frame is as wide as is told with its sum.
function withoutWidth(tree) {
  const { without } = WIDTHS[tree.header.widthBy ?? "larger"];
  const rest = tree.larger[0] - tree.width[0];
  if (viewer.state().measure.isBeside) return "Each side is drawn at its own scale.";
  return rest > 0 ? `${without}, ${formatValue(rest, viewer.unit())}, has no width here.` : hiddenWords(tree);
}

function functions(tree, rows, { changes, unit }) {
  const { measure, transforms } = viewer.state();
  measures.show(measure, noHours());
  legend.show(
    changes.kinds,
    unit,
    transforms.filter(({ kind }) => kind === "changed").map(({ what }) => what),
  );
  showHeadings(changes.totals, unit);
  const pieces = [...stepsBefore(transforms), ...finding(changes, unit)];
  part(root, "finding").replaceChildren(
    ...pieces.map(({ text, kind }) =>
      kind === "code" ? element("code", {}, text) : kind ? element("b", { class: kind }, text) : text,
    ),
  );
  const { grew, shrank } = changes.moved;
  setText(part(root, "change-parts"), `${formatValue(grew, unit)} grew, ${formatValue(shrank, unit)} shrank`);
  showTable(rows, { unit, all: changes.totals[0] });
}

// A finding of a part says so.
function stepsBefore(transforms) {
  return transforms.some(({ kind }) => kind !== "changed") ? [{ text: "Of what the steps leave: ", kind: "" }] : [];
}

function showHeadings([before, after], unit) {
  setText(part(root, "before-heading"), `Before, ${formatValue(before, unit)}`);
  setText(part(root, "after-heading"), `After, ${formatValue(after, unit)}`);
}

function showTable(rows, scale) {
  const largest = rows.reduce((most, { selfChange }) => Math.max(most, Math.abs(selfChange)), 0);
  table.show(rows, { ...scale, largest });
}

function isKept(row) {
  const kept = part(root, "kept").value;
  return !kept || kindOfRow(row) === kept;
}

function selected(name) {
  table.select(name);
}

function reviewText() {
  const { before, after } = page.comparison;
  return `${part(root, "finding").textContent}\n${before.run} (${before.deploy || formatCount(before.seq)}) → ${after.run} (${after.deploy || formatCount(after.seq)}): ${location.href}\n`;
}

function addressState(over = {}) {
  return {
    ...viewer.state(),
    type: page.type,
    rules: rulesOfLink(),
    sort: table.sort() === "-selfChange" ? "" : table.sort(),
    ...over,
  };
}

// An address says "exact" only where the project has rules: without a word it has these.
function rulesOfLink() {
  const isDefault = page.rules === "exact" && !page.comparison?.alignment.has_saved;
  return isDefault ? "" : page.rules;
}

function link(state) {
  return location.href.replace(/#.*$/, "") + writeState(addressState(state));
}

function inOneFile() {
  return `${location.pathname}/export/html?${new URLSearchParams({ value_type: page.type, rules: page.rules })}`;
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
    kept: part(root, "kept"),
  };
}

bindDownloads(root, () => {
  const { view, measure } = viewer.state();
  return { value_type: page.type, view, rules: page.rules, width: measure.width };
});
window.memflame = viewer.forTests;
