// The long-lived Worker of a graph: decodes the same payload again, makes other views of it, tests names, adds up functions.
import { totalsAlong } from "./ages.js";
import { foldAllocators } from "./allocators.js";
import { changesOf } from "./diff.js";
import { decode } from "./fgb2.js";
import { layoutTree, wholeWidth } from "./layout.js";
import { measured } from "./measure.js";
import { compilePattern, matchNames, matchNodes } from "./search.js";
import { functionRows, functionValues } from "./top-table.js";
import { stacksOf } from "./transforms.js";
import { baseOf, viewOf } from "./views.js";

let payload = null; // {buffer, folded}: the bytes as they came, and the names of allocator frames that were folded
let whole = null; // columns of all of it, without those
let base = null; // columns after the transforms of the last view
let viewed = null; // that view
let counted = null; // {base, answer}: what the functions of a base add up to, since most views have the same

const answers = {
  open({ buffer, keepsAllocators }) {
    const folding = folded(buffer, keepsAllocators);
    payload = { buffer, folded: folding.folded };
    whole = base = stacksOf(folding.columns);
    viewed = null;
    return { folded: folding.folded };
  },
  view({ wanted, knownNames }) {
    const { main, callers, beside, ...rest } = viewOf(whole, wanted);
    base = stacksOf(rest.base);
    viewed = wanted;
    const known = (columns) => columns && sent(columns, knownNames);
    return { main: known(main), callers: known(callers), beside: known(beside) };
  },
  /** Totals of other payloads of the same stacks, by node of a view. */
  along({ buffers, wanted }) {
    const tree = layoutTree(copied(viewOf(whole, wanted).main));
    const columnsOf = (buffer) => viewOf(folded(buffer, wanted.keepsAllocators).columns, wanted).main;
    return { totals: buffers.map((buffer) => totalsAlong(tree, columnsOf(buffer))) };
  },
  match({ text }) {
    const { regex } = compilePattern(text);
    const isStepped = Boolean(viewed?.transforms.length);
    const isFolded = payload.folded.some((name) => regex.test(name));
    const all = isFolded ? decode(payload.buffer) : whole; // few searches are for these: decoding again costs less than keeping both
    const inWhole = isStepped || isFolded ? { ...matchedIn(measured(all, viewed?.measure), regex), isStepped } : null;
    return { hits: matchNames(base.strings, regex), inWhole };
  },
  functions() {
    if (counted?.base !== base) counted = { base, answer: addedUp() };
    return counted.answer;
  },
};

function addedUp() {
  const values = functionValues(base);
  return { values, all: wholeWidth(base), changes: base.self2 ? changes(values) : null };
}

// What changed is told of all kinds of change, also where the graph shows one of them.
function changes(values) {
  const isFiltered = viewed?.transforms.some(({ kind }) => kind === "changed");
  if (!isFiltered) return changesOf(base, functionRows(base.strings, values));
  const unfiltered = { ...viewed, transforms: viewed.transforms.filter(({ kind }) => kind !== "changed") };
  const stacks = stacksOf(baseOf(whole, unfiltered));
  return changesOf(stacks, functionRows(stacks.strings, functionValues(stacks)));
}

function folded(buffer, keepsAllocators) {
  const columns = decode(buffer);
  return keepsAllocators ? { columns, folded: [] } : foldAllocators(columns);
}

// What a step, or the folding of allocators, has hidden or left out is still searched, in the tree as it was before.
function matchedIn(columns, regex) {
  const { total, frames } = matchNodes(layoutTree(copied(columns)), matchNames(columns.strings, regex));
  return { total, frames };
}

// What a page knows already of the names, by number, need not go with the columns.
const sent = ({ strings, parent, firstChild, rows, ...columns }, knownNames) => ({
  ...columns,
  newStrings: strings.slice(knownNames),
  payloadNames: whole.strings.length,
});

// A layout takes its columns over.
const copied = (columns) => ({
  ...columns,
  self: columns.self.slice(),
  self2: columns.self2?.slice() ?? null,
});

self.onmessage = ({ data }) => {
  const { id, what, ...request } = data;
  const began = performance.now();
  try {
    const answer = answers[what](request);
    self.postMessage({ id, tookMs: performance.now() - began, ...answer });
  } catch (error) {
    self.postMessage({ id, error: error.message });
  }
};
