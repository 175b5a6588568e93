// The page of a run: follows it while it records, and shows any of its snapshots and value types as a graph.
import { meaningAmong, splitByAge } from "./age-bands.js";
import { element, part, setText } from "./dom.js";
import { bindDownloads } from "./downloads.js";
import { baseWords } from "./base-words.js";
import { formatPercent, formatShort, formatValue } from "./format.js";
import { followRun, socketUrlOf } from "./live.js";
import { showQuality } from "./quality-strip.js";
import {
  defaultSnapshot,
  drawable,
  isActive,
  isOpen,
  isTracing,
  mergeRun,
  momentOf,
  payloadUrls,
  readingOf,
  recentChange,
  snapshotAt,
  unitOf,
  valueTypeOf,
} from "./run-view.js";
import { runFinding } from "./run-finding.js";
import { eventRate, showPushes, showStatus } from "./run-status.js";
import { bindSnapshots } from "./snapshots-chart.js";
import { bindTable, shareBar } from "./table-view.js";
import { readState, writeState } from "./url-state.js";
import { showTypes } from "./value-types.js";
import { bindViewer } from "./viewer.js";

const root = document.querySelector("[data-page=run]");
const viewer = bindViewer(root, { title, base, functions, selected, changed, link });
const table = bindTable(tableParts(), {
  columns: valueColumns(),
  note: "Recursion is counted once.",
  sort: "-self",
  onRow: (name) => viewer.goTo(name),
  onSort: () => changed("replace"),
});
const snapshots = bindSnapshots(
  { svg: part(root, "chart"), slider: part(root, "slider"), summary: part(root, "summary") },
  chooseSnapshot,
);
const rateOf = eventRate();
const heard = { at: null, isLinked: true };
// `follows`: the newest snapshot is shown, and the next one when it comes.
const page = { run: null, type: "", seq: 0, follows: true, drawn: "", rate: null };

start();

async function start() {
  applyAddress(stateOfAddress());
  addEventListener("popstate", () => (applyAddress(stateOfAddress()), refresh()));
  try {
    await take(await fetchRun());
  } catch (error) {
    setText(part(root, "problem"), error.message);
    part(root, "problem").hidden = false;
  }
}

// A link of the page without script says in its query what the fragment says otherwise.
function stateOfAddress() {
  return readState(location.hash || location.search.replace("?", "#"));
}

async function fetchRun() {
  const response = await fetch(root.dataset.runUrl);
  if (!response.ok) throw new Error(`The site answered ${response.status} when asked for the run. Reload the page.`);
  return response.json();
}

async function take(run) {
  page.run = run;
  page.rate = rateOf(run);
  await refresh();
  if (!isOpen(run)) return;
  followRun(
    { socketUrl: socketUrlOf(root.dataset.socket), viewUrl: root.dataset.runUrl, isDone: () => !isOpen(page.run) },
    {
      message: (message) => update(mergeRun(page.run, message), message.agent_seen_s),
      view: (view) => update(view, view.agent_seen_s),
      link: (isLinked) =>
        setText(part(root, "link"), isLinked ? "" : "The live connection is down; the page asks every 3 s."),
      gone: () =>
        setText(part(root, "link"), "This run can't be seen any more: it was deleted, or you are signed out."),
    },
  );
  setInterval(showRun, 1000);
}

function update(run, seenS) {
  const wasActive = isActive(page.run);
  page.run = run;
  page.rate = rateOf(run);
  if (typeof seenS === "number") heard.at = performance.now() - 1000 * seenS;
  if (wasActive && !isActive(run)) document.title = document.title.replace(/^Recording /, "");
  refresh();
}

function applyAddress(state) {
  viewer.apply(state);
  if (state.sort) table.setSort(state.sort);
  page.type = state.type;
  page.follows = !state.snapshot || history.state?.follows === true;
  if (!page.follows) page.seq = state.snapshot;
  setText(part(root, "address-note"), state.gone.join(" "));
}

function refresh() {
  const type = valueTypeOf(page.run, page.type);
  const shown = defaultSnapshot(page.run);
  if (shown && type) sayWhatIsGone(type);
  if (page.follows || !snapshotAt(page.run, page.seq)) page.seq = shown?.seq ?? 0;
  showRun();
  part(root, "viewer").hidden = !shown;
  return shown && type ? showGraph(type) : null;
}

function sayWhatIsGone(type) {
  const words = [];
  if (page.type && page.type !== type.name)
    words.push(`The value type ${page.type} of the link is not in this run; ${type.name} is shown.`);
  if (!page.follows && !snapshotAt(page.run, page.seq))
    words.push(
      `Snapshot ${page.seq} of the link is not in this run; ${page.run.shown_seq ? `snapshot ${page.run.shown_seq}` : "the newest"} is shown.`,
    );
  page.type = type.name;
  if (words.length) setText(part(root, "address-note"), words.join(" "));
}

function showRun() {
  const latest = defaultSnapshot(page.run);
  const type = valueTypeOf(page.run, page.type);
  if (latest && page.run.is_pushed) showPushes(root, page.run, latest);
  const heardS = heard.at === null ? null : (performance.now() - heard.at) / 1000;
  showStatus(root, page.run, { latest, type, rate: page.rate, heardS });
  showQuality(
    qualityParts(),
    snapshotAt(page.run, page.seq) ?? latest,
    { ...page.run, isActive: isActive(page.run) },
    "",
  );
}

function showGraph(type) {
  const snapshot =
    drawable(page.run).find(({ seq, tags }) => seq === page.seq && tags[type.name]) ??
    drawable(page.run)
      .filter(({ tags }) => tags[type.name])
      .at(-1);
  if (!snapshot) return null;
  page.seq = snapshot.seq;
  showTypes(part(root, "types"), page.run.value_types, {
    chosen: type.name,
    totalOf: (each) => formatShort(snapshot.totals[each.name] ?? 0, unitOf(each)),
    choose: chooseType,
  });
  showMeaning(type, snapshot);
  setText(part(root, "thinned"), snapshot.capture.thinned ?? "");
  snapshots.show(page.run, type, page.seq);
  part(root, "snapshots").hidden = page.run.snapshots.length < 2 && !isOpen(page.run);
  setText(part(root, "arrived"), arrivedWords());
  part(root, "follow").hidden = page.follows || !isOpen(page.run);
  const drawn = `${type.name} ${snapshot.seq} ${snapshot.tags[type.name][0]}`;
  if (drawn === page.drawn) return null;
  page.drawn = drawn;
  root.dataset.shown = `${type.name}@${snapshot.seq}`;
  writeAddress("replace");
  return viewer.show(payloadUrls(page.run, snapshot, type.name), {
    unit: unitOf(type),
    bands: bandsOf(type, snapshot),
  });
}

/** Payloads of the bands of age of a value type, {label, url}; none for one that has no bands. */
function bandsOf(type, snapshot) {
  const { bands, split } = splitByAge(page.run.value_types);
  const isThere = bands.every((band) => snapshot.tags[band.type.name]);
  if (type.name !== split?.name || !isThere) return [];
  return bands.map((band) => ({ label: band.label, url: payloadUrls(page.run, snapshot, band.type.name).full }));
}

function chooseType(name) {
  page.type = name;
  refresh();
  writeAddress("push");
}

function showMeaning(type, snapshot) {
  part(root, "meaning").replaceChildren(
    element("b", {}, meaningAmong(type, page.run.value_types)),
    `${momentOf(page.run, snapshot, type)}. ${isTracing(page.run) ? "" : readingOf(type, page.run)}`,
  );
  part(root, "negative").hidden = !type.is_signed;
}

function arrivedWords() {
  const { snapshots: all, expected_snapshots: expected } = page.run;
  return isActive(page.run) && expected > 0 ? `${all.length} of ${expected} arrived` : "";
}

function chooseSnapshot(seq) {
  page.seq = seq;
  page.follows = seq === defaultSnapshot(page.run)?.seq;
  refresh();
  writeAddress("replace");
}

function title() {
  return `${part(root, "title").textContent.trim()}, ${page.type}`;
}

function base(tree, focus) {
  return baseWords(tree, focus, valueTypeOf(page.run, page.type));
}

function functions(tree, rows) {
  // A sandwich has the values of one function, its table those of all.
  const all = tree.header.root ? tree.header.whole.total : tree.width[0];
  showFinding(rows, all);
  const note = tree.header.overview ? "Self holds what was thinned out below it." : "";
  table.show(rows, { unit: unitOf(valueTypeOf(page.run, page.type)), all, note });
}

function showFinding(rows, all) {
  const type = valueTypeOf(page.run, page.type);
  const snapshot = snapshotAt(page.run, page.seq);
  const growth = snapshot && type.kind === "level" ? recentChange(page.run, snapshot, type.name) : null;
  const pieces = isActive(page.run) ? [] : runFinding(rows, { unit: unitOf(type), kind: type.kind, all, growth });
  part(root, "finding").replaceChildren(
    ...pieces.map(({ text, kind }) => (kind === "code" ? element("code", {}, text) : text)),
  );
}

function selected(name) {
  table.select(name);
}

function valueColumns() {
  const share = (value, { all }) => (all ? value / all : 0);
  return [
    { title: "Function", className: "fn", sort: "name" },
    { title: "Self", className: "n", sort: "self", cell: (row, { unit }) => formatValue(row.self, unit) },
    { title: "of all", className: "n c1 ink2", cell: (row, scale) => formatPercent(share(row.self, scale)) },
    {
      title: "Share as a bar",
      className: "c2",
      hidden: true,
      cell: (row, scale) => shareBar(Math.abs(share(row.self, scale))),
    },
    { title: "Total", className: "n", sort: "total", cell: (row, { unit }) => formatValue(row.total, unit) },
    { title: "of all", className: "n c1 ink2", cell: (row, scale) => formatPercent(share(row.total, scale)) },
  ];
}

function addressState(over = {}) {
  return {
    ...viewer.state(),
    type: page.type || page.run?.value_types[0]?.name,
    snapshot: page.seq,
    sort: table.sort() === "-self" ? "" : table.sort(),
    ...over,
  };
}

function link(state) {
  return location.href.replace(/#.*$/, "") + writeState(addressState(state));
}

function changed(how) {
  if (page.run) writeAddress(how);
}

// The number of the snapshot is always in the address, so that a copy shows this picture and no later one; that this
// window follows the newest is kept beside it.
function writeAddress(how) {
  const fragment = writeState(addressState());
  const state = { follows: page.follows };
  if (fragment === location.hash) how = "replace";
  history[how === "push" ? "pushState" : "replaceState"](state, "", fragment);
}

function tableParts() {
  return {
    table: part(root, "functions"),
    filter: part(root, "filter"),
    count: part(root, "count"),
    more: part(root, "more"),
  };
}

function qualityParts() {
  return { strip: part(root, "quality"), details: part(root, "details"), warnings: part(root, "warnings") };
}

bindDownloads(root, () => ({ seq: page.seq, value_type: page.type, view: viewer.state().view }));
part(root, "follow").addEventListener("click", () => {
  page.follows = true;
  refresh();
});

window.memflame = { frameRect: viewer.boxOf, shadeOf: viewer.shadeOf, tree: viewer.tree };
