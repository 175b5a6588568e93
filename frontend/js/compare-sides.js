// The two sides of a comparison: value, deploy, time, run and host of each, its other snapshots, and both captures.
import { captureLoader } from "./captures.js";
import { element, icon, part, setText } from "./dom.js";
import { formatChange, formatDuration, formatOfOwn, formatValue } from "./format.js";
import { captureQuality } from "./quality.js";
import { drawable, snapshotName, unitOf } from "./run-view.js";

const SIDES = ["before", "after"];

/** Shows both sides of a comparison and the change between them, in numbers of a value type. */
export function showSides(root, { before, after }, type) {
  for (const [name, side] of Object.entries({ before, after })) showSide(root, name, side, type);
  setText(part(root, "title"), titleOf(before, after));
  document.title = document.title.replace(/^.*(?= · )/, () => titleOf(before, after));
  const change = after.total - before.total;
  const number = part(root, "change");
  setText(number, change === 0 ? "none" : formatChange(change, unitOf(type)));
  number.className = `v ${change > 0 ? "grew" : change < 0 ? "shrank" : ""}`;
  setText(part(root, "change-share"), change === 0 ? "" : formatOfOwn(before.total, after.total));
}

function showSide(root, name, side, type) {
  setText(part(root, `${name}-total`), formatValue(side.total, unitOf(type)));
  part(root, `${name}-deploy`).replaceChildren(...(side.deploy ? ["deploy ", element("b", {}, side.deploy)] : []));
  const facts = [startedWords(side.started_at), side.service || side.title, side.host];
  setText(part(root, `${name}-facts`), `, ${facts.filter(Boolean).join(", ")}`);
  setText(part(root, `${name}-moment`), momentWords(side));
  setText(part(root, `${name}-run`), side.run);
}

function momentWords({ label, elapsed_s: elapsed }) {
  if (label) return `, ${label}`;
  return elapsed ? `, at ${formatDuration(elapsed)}` : "";
}

function startedWords(text) {
  if (!text) return "";
  return new Date(text)
    .toLocaleString("en-GB", { timeZone: "UTC", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" })
    .replace(",", "");
}

function titleOf(before, after) {
  if (before.deploy && after.deploy && before.deploy !== after.deploy)
    return `${before.deploy} against ${after.deploy}`;
  if (before.run === after.run)
    return `${before.run}, ${snapshotName(before, formatDuration)} against ${snapshotName(after, formatDuration)}`;
  return `${before.run} against ${after.run}`;
}

/** Fetches both runs, and shows their other snapshots and how complete the captures were; the graph does not wait for it. */
export async function showCaptures(root, comparison) {
  const ids = SIDES.map((name) => comparison[name].run);
  const fetched = new Map([...new Set(ids)].map((id) => [id, fetchRun(id)])); // one run may be both sides
  const runs = await Promise.all(ids.map((id) => fetched.get(id)));
  SIDES.forEach((name, i) => runs[i] && fillSnapshots(root, name, runs[i], comparison));
  const snapshots = await Promise.all(SIDES.map((name, i) => wholeSnapshot(runs[i], comparison[name].seq)));
  showQuality(root, runs, snapshots);
}

async function fetchRun(run) {
  const response = await fetch(`${addressOf(run)}?brief=true`).catch(() => null);
  return response?.ok ? response.json() : null;
}

const addressOf = (run) => `/api/v1/runs/${run}`;

// Of many snapshots a run tells the captures of two; that of another is asked for.
async function wholeSnapshot(run, seq) {
  const snapshot = run?.snapshots.find((each) => each.seq === seq);
  if (!snapshot?.is_brief) return snapshot;
  const captures = captureLoader(addressOf(run.run));
  await captures.load(snapshot);
  return captures.of(snapshot);
}

function fillSnapshots(root, name, run, comparison) {
  const select = part(root, `${name}-snapshot`);
  const chosen = comparison[name].seq;
  const snapshots = drawable(run);
  select.replaceChildren(
    ...snapshots.map((snapshot) =>
      element(
        "option",
        { value: snapshot.seq, selected: snapshot.seq === chosen },
        snapshotName(snapshot, formatDuration),
      ),
    ),
  );
  const isFixed = snapshots.length < 2 || Boolean(comparison[name].since);
  select.closest("label").hidden = isFixed;
  part(root, `${name}-moment`).hidden = !isFixed;
  select.addEventListener("change", () => {
    const refs = { before: root.dataset.before, after: root.dataset.after, [name]: `${run.run}@${select.value}` };
    location.href = `/compare/${refs.before}/${refs.after}${location.hash}`;
  });
}

function showQuality(root, runs, snapshots) {
  const captures = snapshots.map((snapshot, i) => captureQuality(snapshot, { ...runs[i], isActive: false }));
  const isOk = captures.every(({ level }) => level === "ok");
  const words = [...new Set(captures.map((capture) => capture.words[1]))].join(" and ");
  const first = element(
    "span",
    {},
    icon(isOk ? "i-ok" : "i-warn"),
    words.includes(" and ") ? " Captures " : " Both captures ",
    element("b", {}, words),
  );
  part(root, "quality").replaceChildren(first, ...pairedFigures(captures));
}

// "lost 0 and 0 of 7.77 M and 7.77 M events" reads badly, so both sides share the words before and after their numbers.
function pairedFigures([before, after]) {
  const numbered = ({ figures }) => figures.filter(([label, number]) => label && number);
  return numbered(before).flatMap(([label, number, rest]) => {
    const other = numbered(after).find(([name]) => name === label);
    return other
      ? [
          element(
            "span",
            {},
            `${label} `,
            element("b", {}, number),
            " and ",
            element("b", {}, other[1]),
            label === "lost" ? " events" : ` ${rest}`,
          ),
        ]
      : [];
  });
}
