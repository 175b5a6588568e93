// The long-lived Worker of a graph: decodes the same payload again, makes other views of it, tests names, adds up functions.
import { totalsAlong } from "./ages.js";
import { foldAllocators } from "./allocators.js";
import { decode } from "./fgb2.js";
import { layoutTree } from "./layout.js";
import { compilePattern, matchNames, matchNodes } from "./search.js";
import { functionValues } from "./top-table.js";
import { applyTransforms } from "./transforms.js";
import { viewOf, withView } from "./views.js";

let whole = null; // columns as they came
let base = null; // columns after the transforms of the last view

const answers = {
  open({ buffer, keepsAllocators }) {
    const folding = folded(buffer, keepsAllocators);
    whole = base = folding.columns;
    return { folded: folding.folded };
  },
  view({ wanted, knownNames }) {
    base = applyTransforms(whole, wanted.transforms);
    const { main, callers } = withView(base, wanted);
    return { main: sent(main, knownNames), callers: callers && sent(callers, knownNames) };
  },
  /** Totals of other payloads of the same stacks, by node of a view. */
  along({ buffers, wanted }) {
    const tree = layoutTree(copied(viewOf(whole, wanted).main));
    const columnsOf = (buffer) => viewOf(folded(buffer, wanted.keepsAllocators).columns, wanted).main;
    return { totals: buffers.map((buffer) => totalsAlong(tree, columnsOf(buffer))) };
  },
  match({ text }) {
    const { regex } = compilePattern(text);
    return { hits: matchNames(base.strings, regex), inWhole: base === whole ? null : matchedIn(whole, regex) };
  },
  functions: () => ({ values: functionValues(layoutTree(copied(base))) }),
};

function folded(buffer, keepsAllocators) {
  const columns = decode(buffer);
  return keepsAllocators ? { columns, folded: [] } : foldAllocators(columns);
}

// What a step has hidden or left out is still searched, in the tree as it was before the steps.
function matchedIn(columns, regex) {
  const { total, frames } = matchNodes(layoutTree(copied(columns)), matchNames(columns.strings, regex));
  return { total, frames };
}

// What a page knows already of the names, by number, need not go with the columns.
const sent = ({ strings, parent, ...columns }, knownNames) => ({
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
