// Fetches payloads and makes what a view draws of them: an overview and a plain view here, all else in the Worker.
import { foldAllocators } from "./allocators.js";
import { decode } from "./fgb2.js";
import { layoutTree } from "./layout.js";
import { isPlain, viewOf } from "./views.js";

/**
 * Loads for one graph. What is drawn is {tree, callers, beside, folded, isPartial}: a laid out tree, the one above it in a
 * sandwich or null, the one of the side before beside it or null, and the allocator names that were folded. `wanted` is as views.js has it, with keepsAllocators.
 */
export function payloadLoader(worker) {
  let names = []; // of the payload that the Worker has, in the order of their ids
  let folded = [];

  function here(buffer, wanted) {
    const columns = decode(buffer);
    const folding = wanted.keepsAllocators ? { columns, folded: [] } : foldAllocators(columns);
    folded = folding.folded;
    return { columns: folding.columns, isPartial: Boolean(columns.header.overview) };
  }

  function laidOut({ main, callers, beside = null }, isPartial) {
    return {
      tree: layoutTree(main),
      callers: callers && layoutTree(callers),
      beside: beside && layoutTree(beside),
      folded,
      isPartial,
    };
  }

  /** Hands a payload {buffer, fetchAgain} over to the Worker: this page needs it no more. */
  async function open({ buffer, fetchAgain }, wanted) {
    folded = (await worker.open(buffer, wanted.keepsAllocators, fetchAgain)).folded;
  }

  async function view(wanted) {
    const { main, callers, beside } = await worker.view(wanted, names.length);
    const named = (columns) => columns && { ...columns, strings: names.concat(columns.newStrings) };
    const view = { main: named(main), callers: named(callers), beside: named(beside) };
    if (!names.length) names = view.main.strings.slice(0, main.payloadNames);
    return laidOut(view, false);
  }

  return {
    /** The payload at an address. */
    fetch: payloadAt,
    /** What is drawn of a payload; of an overview it says so. */
    overview(payload, wanted) {
      const { columns, isPartial } = here(payload.buffer, wanted);
      if (!isPartial) names = columns.strings;
      return { payload, ...laidOut(viewOf(columns, wanted), isPartial) };
    },
    /** What is drawn of all of it. Its `payload` is the Worker's by then, if that made the view. */
    async whole(payload, wanted) {
      names = [];
      if (!isPlain(wanted)) {
        await open(payload, wanted);
        return { payload: null, ...(await view(wanted)) };
      }
      const { columns } = here(payload.buffer, wanted);
      names = columns.strings;
      return { payload, ...laidOut(viewOf(columns, wanted), false) };
    },
    open,
    view,
    /** Totals of the payloads at other addresses, by node of the view. */
    async along(urls, wanted, signal) {
      return worker.along(await Promise.all(urls.map((url) => fetchPayload(url, signal))), wanted);
    },
  };
}

// A browser keeps what was fetched, so fetching again costs less than holding the bytes all the time.
async function payloadAt(url, signal) {
  return { buffer: await fetchPayload(url, signal), fetchAgain: () => fetchPayload(url) };
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
