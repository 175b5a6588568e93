// Writes what is shown into the fragment of the address, and reads it back: a copied link shows the same picture.

import { decodeText, encodeText } from "./address-text.js";
import { COLOURS } from "./colours.js";
import { SCALES } from "./measure.js";
import { WIDTHS } from "./side-widths.js";
import { readSteps, writeSteps } from "./transform-address.js";
import { VIEWS } from "./views.js";

const VERSION = "1";
const MAX_PATH = 6000; // characters; a longer path is written as its hash, since addresses are cut by chat programs

/**
 * State {type, snapshot, since, other, focus, range, selected, search, view, fn, transforms, measure, rules, colour, marks, sort, keepsAllocators} as "#v=1&…"; what is absent or
 * the default is left out. `focus` and `selected` are paths of names or {hash, last} of one, `range` the part of the focus that is seen.
 */
export function writeState(state) {
  const fields = [
    ["v", VERSION],
    ["t", state.type],
    ["s", state.snapshot],
    ["from", state.since],
    ["b", state.other ? writeChoice(state.other) : ""],
    ["f", writePath(state.focus)],
    ["x", writeRange(state.range)],
    ["sel", writePath(state.selected)],
    ["q", state.search],
    ["view", state.view === "icicle" ? "" : state.view],
    ["fn", state.view === "sandwich" ? state.fn : ""],
    ["steps", writeSteps(state.transforms ?? [])],
    ...writeMeasure(state.measure),
    ["rules", state.rules],
    ["c", state.colour?.mode],
    ["y", state.colour?.youngest || ""],
    ["marks", state.marks ? "1" : ""],
    ["sort", state.sort],
    ["alloc", state.keepsAllocators ? "1" : ""],
  ];
  return (
    "#" +
    fields
      .filter(([, value]) => value)
      .map(([key, value]) => `${key}=${key === "steps" ? value : encode(value)}`)
      .join("&")
  );
}

/** The state in a fragment; `gone` says in words what of it can't be read. */
export function readState(fragment) {
  const fields = fieldsOf(fragment);
  const gone =
    fields.v && fields.v !== VERSION
      ? [`The link has version ${fields.v} of this page's addresses, ${VERSION} is known: some of it may be missing.`]
      : [];
  const steps = readSteps(fields.steps ?? "");
  return {
    type: fields.t ?? "",
    snapshot: readSeq(fields.s),
    since: readSeq(fields.from),
    other: readChoice(fields.b),
    focus: readPath(fields.f),
    range: readRange(fields.x),
    selected: readPath(fields.sel),
    search: fields.q ?? "",
    ...readView(fields),
    transforms: steps.transforms,
    measure: readMeasure(fields),
    rules: fields.rules ?? "",
    colour: readColour(fields),
    marks: fields.marks === "1",
    sort: /^-?[a-zA-Z]+$/.test(fields.sort ?? "") ? fields.sort : "",
    keepsAllocators: fields.alloc === "1",
    gone: [...gone, ...steps.gone],
  };
}

const readSeq = (text = "") => (/^[1-9]\d{0,5}$/.test(text) ? Number(text) : 0);

// What the second brush of the time line is on: a snapshot, or the interval after one until another.
const writeChoice = ({ since, seq }) => (since ? `${since}-${seq}` : `${seq}`);

function readChoice(text = "") {
  const [, since, seq] = text.match(/^(?:(\d+)-)?(\d+)$/) ?? [];
  return readSeq(seq) ? { since: readSeq(since), seq: readSeq(seq) } : null;
}

function writeMeasure({ width = "larger", scale = "counted", isBeside = false } = {}) {
  return [
    ["w", width === "larger" ? "" : width],
    ["n", scale === "counted" ? "" : scale],
    ["two", isBeside ? "1" : ""],
  ];
}

function readMeasure({ w = "", n = "", two }) {
  return {
    width: Object.hasOwn(WIDTHS, w) ? w : "larger",
    scale: Object.hasOwn(SCALES, n) ? n : "counted",
    isBeside: two === "1",
  };
}

// What is drawn without a choice of colours is not written down.
function readColour({ c = "", y = "" }) {
  return { mode: Object.hasOwn(COLOURS, c) ? c : "", youngest: /^\d$/.test(y) ? Number(y) : 0 };
}

// A sandwich needs its function.
function readView({ view, fn = "" }) {
  const isKnown = Object.hasOwn(VIEWS, view ?? "") && (view !== "sandwich" || fn !== "");
  return { view: isKnown ? view : "icicle", fn: isKnown && view === "sandwich" ? fn : "" };
}

function fieldsOf(fragment) {
  const fields = {};
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at > 0) fields[part.slice(0, at)] = part.slice(at + 1);
  }
  const asWritten = ["f", "sel", "steps"]; // of several parts, each decoded by itself
  for (const key of Object.keys(fields)) if (!asWritten.includes(key)) fields[key] = decodeText(fields[key]);
  return fields;
}

// A path that a link has as its hash stays one: its names are known to nobody here.
const writePath = (path) => (path?.length || path?.hash ? { path } : "");

// Names are separated by ";" after encoding, so a name may hold one.
function encode(value) {
  if (typeof value !== "object") return encodeText(String(value));
  if (value.path.hash) return writeHash(value.path);
  const text = value.path.map(encodeText).join(";");
  return text.length <= MAX_PATH ? text : writeHash({ hash: pathHash(value.path), last: value.path.at(-1) });
}

const writeHash = ({ hash, last }) => `~${hash}~${encodeText(last.slice(0, 200))}`;

function readPath(text) {
  if (!text) return [];
  const [, hash, last] = text.match(/^~([0-9a-f]{16})~(.*)$/) ?? [];
  return hash ? { hash, last: decodeText(last) } : text.split(";").map(decodeText);
}

const writeRange = (range) => (range ? range.map((part) => Number(part.toPrecision(12))).join("-") : "");

function readRange(text) {
  const [, from, to] = text?.match(/^([\d.]+(?:e-\d+)?)-([\d.]+(?:e-\d+)?)$/) ?? [];
  const range = [Number(from), Number(to)];
  return range.every((part) => part >= 0 && part <= 1) && range[0] < range[1] ? range : null;
}

/** 16 hexadecimal digits of a path of names. */
export function pathHash(path) {
  let hash = ROOT_HASH;
  for (const name of path) hash = childHash(hash, nameHash(name));
  return hexOf(hash);
}

/** The node at a hash of a path, -1 if there is none. */
export function findHash(tree, wanted) {
  const nameHashes = tree.strings.map(nameHash);
  const [wantedHigh, wantedLow] = [0, 8].map((at) => parseInt(wanted.slice(at, at + 8), 16));
  const high = new Uint32Array(tree.n);
  const low = new Uint32Array(tree.n);
  [high[0], low[0]] = ROOT_HASH;
  for (let i = 1; i < tree.n; i++) {
    const [above, name] = [tree.parent[i], nameHashes[tree.names[i]]];
    high[i] = highHash(high[above], name[0]);
    low[i] = lowHash(low[above], name[1], high[above]);
    if (high[i] === wantedHigh && low[i] === wantedLow) return i;
  }
  return -1;
}

const ROOT_HASH = [0x811c9dc5, 0x9e3779b9];

function nameHash(name) {
  let [high, low] = ROOT_HASH;
  for (let i = 0; i < name.length; i++) {
    high = Math.imul(high ^ name.charCodeAt(i), 16777619);
    low = Math.imul(low ^ name.charCodeAt(i), 0x85ebca6b);
  }
  return [high >>> 0, low >>> 0];
}

const childHash = ([high, low], name) => [highHash(high, name[0]), lowHash(low, name[1], high)];
const highHash = (high, name) => Math.imul(high ^ name, 16777619) >>> 0;
const lowHash = (low, name, high) => Math.imul(low ^ name ^ (high >>> 7), 0x85ebca6b) >>> 0;
const hexOf = (hash) => hash.map((part) => part.toString(16).padStart(8, "0")).join("");
