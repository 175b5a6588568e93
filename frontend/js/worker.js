// The long-lived Worker of a graph: decodes the same payload again, tests names against expressions, adds up functions.
import { foldAllocators } from "./allocators.js";
import { decode } from "./fgb2.js";
import { layoutTree } from "./layout.js";
import { compilePattern, matchNames } from "./search.js";
import { functionValues } from "./top-table.js";

let tree = null;

const answers = {
  open({ buffer, keepsAllocators }) {
    const columns = decode(buffer);
    tree = layoutTree(keepsAllocators ? columns : foldAllocators(columns).columns);
    return {};
  },
  match: ({ text }) => ({ hits: matchNames(tree.strings, compilePattern(text).regex) }),
  functions: () => ({ values: functionValues(tree) }),
};

self.onmessage = ({ data }) => {
  const { id, what, ...request } = data;
  try {
    self.postMessage({ id, ...answers[what](request) });
  } catch (error) {
    self.postMessage({ id, error: error.message });
  }
};
