// The page of a run: follows it while it records, and shows any of its snapshots and value types as a graph.
import { afterGraph } from "./after-graph.js";
import { meaningAmong, splitByAge } from "./age-bands.js";
import { element, part, setText } from "./dom.js";
import { bindDownloads } from "./downloads.js";
import { baseWords } from "./base-words.js";
import { bindCaptureStrip } from "./capture-strip.js";
import { formatPercent, formatShort, formatValue } from "./format.js";
import { fetchInterval, leftoverWords } from "./interval.js";
import { followRun, socketUrlOf } from "./live.js";
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
import { bindTable, shareBar } from "./table-view.js";
import { bindTimeline } from "./timeline-chart.js";
import { bindSecond } from "./timeline-second.js";
import { choiceWords, intervalName, timelineOf } from "./timeline.js";
import { readState, writeState } from "./url-state.js";
import { showTypes } from "./value-types.js";
import { bindViewer } from "./viewer.js";

const root = document.querySelector("[data-page=run]");
const later = afterGraph();
const viewer = bindViewer(root, { title, base, functions, selected, changed, link, inOneFile, settled: later.open });
const table = bindTable(tableParts(), {
  columns: valueColumns(),
  note: "Recursion is counted once.",
  sort: "-self",
  onRow: (name) => viewer.goTo(name),
  onSort: () => changed("replace"),
});
const timeline = bindTimeline(part(root, "timeline"), moveBrush);
const second = bindSecond({ button: part(root, "second"), link: part(root, "compare-two") }, putSecond);
const captureStrip = bindCaptureStrip(qualityParts(), root.dataset.runUrl, { told: showRun });
const rateOf = eventRate();
const heard = { at: null, isLinked: true };
// `follows`: the newest snapshot is shown, and the next one when it comes. `since`: of a flow, what happened after that snapshot
// is shown, 0 for all of it. `other` is what the second brush is on, {since, seq} or null.
const page = {
  run: null,
  type: "",
  seq: 0,
  since: 0,
  other: null,
  follows: true,
  drawn: "",
  isSigned: false,
  rate: null,
};

// Not while the script is read: a browser that tells who fetched what would have to read all of it again for that.
queueMicrotask(start);

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
  if (root.dataset.view) return writtenRun();
  const response = await fetch(root.dataset.viewUrl);
  if (!response.ok) throw new Error(`The site answered ${response.status} when asked for the run. Reload the page.`);
  return response.json();
}

// Once: later the site may have another.
function writtenRun() {
  const run = JSON.parse(root.dataset.view);
  delete root.dataset.view;
  return run;
}

async function take(run) {
  page.run = run;
  page.rate = rateOf(run);
  viewer.offerPresets(run.code_presets);
  await refresh();
  if (!isOpen(run)) return;
  followRun(
    { socketUrl: socketUrlOf(root.dataset.socket), viewUrl: root.dataset.viewUrl, isDone: () => !isOpen(page.run) },
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
  Object.assign(page, { since: state.since, other: state.other });
  setText(part(root, "address-note"), state.gone.join(" "));
}

function refresh() {
  const type = valueTypeOf(page.run, page.type);
  const shown = defaultSnapshot(page.run);
  if (shown && type) sayWhatIsGone(type);
  if (page.follows || !snapshotAt(page.run, page.seq)) page.seq = shown?.seq ?? 0;
  part(root, "viewer").hidden = !shown;
  if (!shown || !type) later.open();
  later(showRun);
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
  for (const brush of [page, page.other].filter((each) => each?.since))
    if (!snapshotAt(page.run, brush.since)) {
      words.push(
        `Snapshot ${brush.since} of the link, where an interval begins, is not in this run; all until its end is shown.`,
      );
      brush.since = 0;
    }
  if (page.other && !snapshotAt(page.run, page.other.seq)) page.other = null;
  page.type = type.name;
  if (words.length) setText(part(root, "address-note"), words.join(" "));
}

function showRun() {
  const latest = defaultSnapshot(page.run);
  const type = valueTypeOf(page.run, page.type);
  if (latest && page.run.is_pushed) showPushes(root, page.run, latest);
  const heardS = heard.at === null ? null : (performance.now() - heard.at) / 1000;
  showStatus(root, page.run, { latest, type, rate: page.rate, heardS });
  captureStrip.show(snapshotAt(page.run, page.seq) ?? latest, { ...page.run, isActive: isActive(page.run) });
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
  const a = brushOf(page, type);
  page.isSigned = type.is_signed;
  showMeaning(type, snapshot, a);
  setText(part(root, "thinned"), snapshot.capture.thinned ?? "");
  later(() => showTimeline(type, a));
  setText(part(root, "arrived"), arrivedWords());
  part(root, "follow").hidden = page.follows || !isOpen(page.run);
  const drawn = `${type.name} ${a.since} ${snapshot.seq} ${snapshot.tags[type.name][0]}`;
  if (drawn === page.drawn) return null;
  page.drawn = drawn;
  root.dataset.shown = `${type.name}@${a.since ? `${a.since}..` : ""}${snapshot.seq}`;
  setText(part(root, "leftover"), "");
  writeAddress("replace");
  if (a.since) return showInterval(type, a, drawn);
  return viewer.show(payloadUrls(page.run, snapshot, type.name), {
    unit: unitOf(type),
    bands: bandsOf(type, snapshot),
  });
}

async function showInterval(type, a, drawn) {
  document.documentElement.dataset.viewer = "loading"; // what is drawn still is what was chosen before
  try {
    const interval = await fetchInterval(root.dataset.runUrl, a, type);
    if (drawn !== page.drawn) return;
    page.isSigned = interval.is_signed;
    part(root, "negative").hidden = !interval.is_signed;
    setText(part(root, "leftover"), leftoverWords(interval, type));
    await viewer.show(interval.urls, { unit: unitOf(type) });
  } catch (error) {
    if (drawn !== page.drawn) return;
    setText(part(root, "leftover"), error.message);
    document.documentElement.dataset.viewer = "ready";
  }
}

/** What a brush is on, for a value type: only a flow has intervals. */
function brushOf({ since, seq }, type) {
  return { since: type.kind === "flow" && since < seq ? since : 0, seq };
}

/** The snapshot or interval that is drawn. */
function shownBrush() {
  return brushOf(page, valueTypeOf(page.run, page.type));
}

function showTimeline(type, a) {
  const b = page.other && brushOf(page.other, type);
  timeline.show(page.run, type, { a, b });
  second.show(page.run, type, { a, b });
  setText(part(root, "summary"), choiceWords(timelineOf(page.run, type), a, page.run, type));
  part(root, "snapshots").hidden = page.run.snapshots.length < 2 && !isOpen(page.run);
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

function showMeaning(type, snapshot, { since }) {
  const moment = since
    ? `, ${intervalName(page.run, snapshotAt(page.run, since), snapshot)}`
    : momentOf(page.run, snapshot, type);
  part(root, "meaning").replaceChildren(
    element("b", {}, meaningAmong(type, page.run.value_types)),
    `${moment}. ${isTracing(page.run) ? "" : readingOf(type, page.run)}`,
  );
  part(root, "negative").hidden = !type.is_signed;
}

function arrivedWords() {
  const { snapshots: all, expected_snapshots: expected } = page.run;
  return isActive(page.run) && expected > 0 ? `${all.length} of ${expected} arrived` : "";
}

/** A flow's interval is asked for once the brush stays: the site makes each anew. */
function moveBrush(letter, choice, isSettled) {
  if (letter === "B") page.other = choice;
  else Object.assign(page, choice, { follows: choice.seq === defaultSnapshot(page.run)?.seq });
  const type = valueTypeOf(page.run, page.type);
  if (!isSettled) return showTimeline(type, brushOf(page, type));
  refresh();
  writeAddress("replace");
}

function putSecond(choice) {
  page.other = choice;
  refresh();
  writeAddress("push");
}

function title() {
  return `${part(root, "title").textContent.trim()}, ${page.type}`;
}

function base(tree, focus) {
  const type = { ...valueTypeOf(page.run, page.type), is_signed: page.isSigned };
  const of = page.since && type.kind === "flow" ? "the whole interval" : "the whole run";
  return baseWords(tree, focus, type, { of, thinned: snapshotAt(page.run, page.seq)?.capture?.thinned });
}

// `all` is the width of what the table counts: a sandwich is drawn of one function only.
function functions(tree, rows, { all }) {
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
    since: page.since,
    other: page.other,
    sort: table.sort() === "-self" ? "" : table.sort(),
    ...over,
  };
}

function link(state) {
  return location.href.replace(/#.*$/, "") + writeState(addressState(state));
}

function inOneFile() {
  const { since, seq } = shownBrush();
  const query = since ? `?${new URLSearchParams({ value_type: page.type, from: since })}` : "";
  return `${page.run.url}/export/${seq}/html${query}`;
}

function changed(how) {
  if (page.run) writeAddress(how);
}

// The number of the snapshot is always in the address, so that a copy shows this picture and no later one; that this
// window follows the newest is kept beside it.
function writeAddress(how) {
  const fragment = writeState(addressState());
  const state = { follows: page.follows };
  const isThere = fragment === location.hash;
  if (isThere && history.state?.follows === state.follows) return; // browsers count how often an address is written
  history[how === "push" && !isThere ? "pushState" : "replaceState"](state, "", fragment);
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

bindDownloads(root, () => ({ ...shownBrush(), value_type: page.type, view: viewer.state().view }));
part(root, "follow").addEventListener("click", () => {
  page.follows = true;
  refresh();
});

window.memflame = viewer.forTests;
