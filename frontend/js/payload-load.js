// Fetches a payload and makes a tree of it.
import { foldAllocators } from "./allocators.js";
import { decode } from "./fgb2.js";
import { layoutTree } from "./layout.js";

/** {buffer, tree, folded}: the bytes as they came for the Worker, the tree, and the allocator names that were folded. */
export async function loadTree(url, { keepsAllocators, signal }) {
  const buffer = await fetchPayload(url, signal);
  const columns = decode(buffer);
  const folding = keepsAllocators ? { columns, folded: [] } : foldAllocators(columns);
  return { buffer, tree: layoutTree(folding.columns), folded: folding.folded };
}

async function fetchPayload(url, signal) {
  const response = await fetch(url, { signal });
  if (!response.ok)
    throw new Error(answers[response.status] ?? `The site answered ${response.status} when asked for the graph.`);
  return response.arrayBuffer();
}

const answers = {
  403: "You are signed out. Sign in and open this page again.",
  404: "The graph is gone: its run was deleted, or its snapshot was read again. Reload the page.",
};
