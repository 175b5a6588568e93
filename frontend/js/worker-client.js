// Talks to the graph's Worker. An expression that takes too long ends the Worker, and a new one opens the payload again.

// JavaScript can't interrupt a regular expression. Matching 50,000 names takes some 15 ms, so half a second is hopeless.
export const MATCH_TIMEOUT_MS = 500;

/** What the Worker can't do in time, in words. */
export class TooSlow extends Error {
  name = "TooSlow";
}

/** `start()` makes a Worker. Returns open, view, along, match, functions and close; each answer is a promise. */
export function workerClient(start, { timeoutMs = MATCH_TIMEOUT_MS } = {}) {
  let worker = null;
  let payload = null;
  let opened = null;
  let viewed = null; // the last view asked for: what a new Worker has to make again
  let lastId = 0;
  const waiting = new Map();

  function ensureWorker() {
    if (worker) return;
    worker = start();
    worker.onmessage = ({ data }) => settle(data);
    worker.onerror = (event) => failAll(new Error(event.message || "The Worker of the graph could not be started."));
  }

  function settle({ id, error, tookMs, ...answer }) {
    const { what, resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (tookMs) performance.measure(`viewer-worker-${what}`, { start: performance.now() - tookMs, duration: tookMs });
    if (error) reject?.(new Error(error));
    else resolve?.(answer);
  }

  function failAll(error) {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  }

  function ask(what, request, moved = []) {
    ensureWorker();
    const id = ++lastId;
    worker.postMessage({ id, what, ...request }, moved);
    return new Promise((resolve, reject) => waiting.set(id, { what, resolve, reject }));
  }

  function restart(error) {
    worker.terminate();
    worker = null;
    failAll(error);
    opened = reopened();
    if (viewed)
      opened = opened.then((answer) => ask("view", { wanted: viewed, knownNames: Infinity }).then(() => answer));
    opened.catch(() => {});
  }

  async function reopened() {
    const { keepsAllocators, fetchAgain } = payload;
    return ask("open", { buffer: await fetchAgain(), keepsAllocators });
  }

  return {
    /** Opens a payload, which goes to the Worker: `fetchAgain()` gives another copy for the Worker that may follow it. */
    open(buffer, keepsAllocators, fetchAgain) {
      payload = { keepsAllocators, fetchAgain };
      viewed = null;
      opened = ask("open", { buffer, keepsAllocators }, [buffer]);
      return opened;
    },
    /** {main, callers}: columns of a view, with the names after the first `knownNames`. It is what is searched and added up from now on. */
    async view(wanted, knownNames) {
      await opened;
      viewed = wanted;
      return ask("view", { wanted, knownNames });
    },
    /** Totals of other payloads by node of the view; one column a payload. */
    async along(buffers, wanted) {
      await opened;
      return (await ask("along", { buffers, wanted })).totals;
    },
    /** {values, changes}: columns by function, and what changed of a difference. */
    async functions() {
      await opened;
      return ask("functions", {});
    },
    /** {hits, inWhole}: one byte for each name, and {total, frames, isStepped} that match in the tree before its steps and with folded frames, null if that is the same. */
    async match(text) {
      await opened;
      const timer = setTimeout(
        () => restart(new TooSlow("the expression takes too long; a simpler one will do")),
        timeoutMs,
      );
      try {
        return await ask("match", { text });
      } finally {
        clearTimeout(timer);
      }
    },
    close() {
      worker?.terminate();
      worker = null;
      failAll(new Error("closed"));
    },
  };
}
