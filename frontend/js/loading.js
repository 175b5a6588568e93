// The order in which a graph comes: overview, all of it, the Worker's copy, what is counted; and other views of it later.
import { isPlain } from "./views.js";

/**
 * `data` is of payload-load.js, `wanted()` the view as views.js has it. Calls on.draw(drawn), on.count(isOld), which resolves when
 * the drawn tree is counted, and on.fail(words). While something is awaited, the page is marked as loading.
 */
export function bindLoading(data, wanted, on) {
  const state = { isWhole: false, drawnFor: "" };
  let loading = null;
  let round = 0;

  const key = () => JSON.stringify(wanted());

  function draw(drawn) {
    state.drawnFor = key();
    on.draw(drawn);
  }

  /** Draws the payload at {overview, full, isSmall}: the overview at once, then the rest, if there is more. Resolves when all is there. */
  async function show(urls) {
    loading?.abort();
    loading = new AbortController();
    const { signal } = loading;
    state.isWhole = false;
    mark("loading");
    try {
      const ahead = urls.isSmall ? fetchedAhead(urls.full, signal) : null;
      const overview = await data.fetch(urls.overview, signal);
      if (ahead && (await isSoon(ahead))) return await showWhole(await ahead, signal, true);
      signal.throwIfAborted();
      const first = data.overview(overview, wanted());
      if (!first.isPartial) return await showOnly(first, overview, signal);
      const rest = ahead ?? fetchedAhead(urls.full, signal);
      // In the overview what was left out counts as its callers' own: turned round or after steps it would be wrong.
      if (isPlain(wanted())) await showFirst(first);
      await showWhole(await rest, signal);
    } catch (error) {
      if (!signal.aborted) fail(error);
    }
  }

  function fetchedAhead(url, signal) {
    const payload = data.fetch(url, signal);
    payload.catch(() => {}); // told where it is awaited
    return payload;
  }

  /** An overview is seen before the rest of it is decoded. */
  function showFirst(drawn) {
    draw(drawn);
    return markDrawn("viewer-overview");
  }

  function showOnly(drawn, payload, signal) {
    showFirst(drawn);
    return finish(payload, signal);
  }

  async function showWhole(payload, signal, isFirst = false) {
    signal.throwIfAborted(); // it may have come while the overview was looked at, and another load be on its way since
    const whole = await data.whole(payload, wanted());
    signal.throwIfAborted();
    draw(whole);
    if (isFirst) markDrawn("viewer-overview");
    await finish(whole.payload, signal);
  }

  // The Worker begins once the picture was seen: before, it would take the processor from it.
  async function finish(payload, signal) {
    await markDrawn("viewer-ready");
    signal.throwIfAborted();
    await complete(payload, signal);
    on.fail("");
  }

  /** Gives the Worker what was drawn here, and draws what was asked for meanwhile. */
  async function complete(payload, signal) {
    state.isWhole = true;
    if (payload) {
      await data.open(payload, wanted());
      if (!isPlain(wanted())) await data.view(wanted());
    }
    if (state.drawnFor !== key()) return reshape();
    const mine = round;
    await counted(() => signal.aborted || mine !== round);
  }

  /** Draws what is wanted now of the payload that the Worker has; until all of it is there, `show` will. */
  async function reshape() {
    const mine = ++round;
    if (!state.isWhole) return;
    mark("loading");
    try {
      const drawn = await data.view(wanted());
      if (mine !== round) return;
      draw(drawn);
      on.fail("");
      await counted(() => mine !== round);
    } catch (error) {
      if (mine === round) fail(error);
    }
  }

  async function counted(isOld) {
    await on.count(isOld);
    afterPaint(() => !isOld() && mark("ready")); // asked again: another load may have begun since
  }

  function fail({ message }) {
    on.fail(message);
    mark("ready");
  }

  return { show, reshape, isWhole: () => state.isWhole };
}

// For tests of the page: when it is ready, graph, table and search are there.
function mark(word) {
  document.documentElement.dataset.viewer = word;
}

// Timings are read from these marks: set once what was drawn has been seen. On a hidden page nothing is, nor waited for.
const markDrawn = (name) =>
  new Promise((resolve) => {
    afterPaint(() => resolve(performance.mark(name)));
    setTimeout(resolve, document.hidden ? 0 : HIDDEN_MS); // it may be hidden meanwhile
  });
const HIDDEN_MS = 500;
const afterPaint = (act) => requestAnimationFrame(() => requestAnimationFrame(act));

const SOON_MS = 40; // less than drawing an overview takes that is replaced at once

// Where all of it is nearly there with the overview, one picture is there sooner than two.
const isSoon = (payload) =>
  Promise.race([payload.then(() => true), new Promise((resolve) => setTimeout(resolve, SOON_MS, false))]);
