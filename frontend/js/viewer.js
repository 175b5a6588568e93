// One graph with all that belongs to it: search, way, selection, table of functions, and the part of the address they share.
import { movements } from "./diff.js";
import { element, part, setText } from "./dom.js";
import { findPath, findWidest, pathOf } from "./frame-path.js";
import { frameWords } from "./frame-words.js";
import { bindGraph } from "./graph.js";
import { bindKeyHelp } from "./key-help.js";
import { nameOf } from "./layout.js";
import { showPath } from "./path-bar.js";
import { loadTree } from "./payload-load.js";
import { bindSearch } from "./search-box.js";
import { showSelected } from "./selected-line.js";
import { functionRows } from "./top-table.js";
import { findHash } from "./url-state.js";
import { workerClient } from "./worker-client.js";

/**
 * Binds the parts below `root`. `page` has base(tree, focus) for what 100 % is, functions(tree, rows) for its table, changed(how)
 * when the address has to follow, and link(state) for an address that shows a state.
 */
export function bindViewer(root, page) {
  const figure = part(root, "graph");
  const worker = workerClient(() => new Worker(figure.dataset.worker, { type: "module" }));
  const graph = bindGraph(figure, { zoomed, selected, key: keyed });
  const search = bindSearch(searchParts(root), {
    graph,
    match: (text) => worker.match(text),
    unit: () => shown.unit,
    onChange: () => page.changed("replace"),
  });
  const keyHelp = bindKeyHelp(part(root, "keys"));
  // What is wanted of the next tree, by names: a live graph grows under the same zoom and selection.
  const wanted = { focus: [], range: null, selected: [], keepsAllocators: false };
  const shown = { unit: "", folded: [], urls: null, isWhole: false };
  let loading = null;

  function zoomed({ isByHand }) {
    wanted.focus = pathOf(graph.state.tree, graph.state.focus);
    wanted.range = graph.range();
    drawLines();
    page.changed(isByHand ? "replace" : "push");
  }

  function selected() {
    wanted.selected = pathOf(graph.state.tree, graph.state.selected);
    drawLines();
    page.selected(nameOf(graph.state.tree, graph.state.selected));
    page.changed("replace");
  }

  function keyed(action) {
    if (action === "search") search.focus();
    else if (action === "help") keyHelp.open();
    else search.step(action === "next" ? 1 : -1);
  }

  function drawLines() {
    const { tree, focus, selected: node, words } = graph.state;
    const base = page.base(tree, focus);
    showPath(
      part(root, "path"),
      { tree, focus, base, folded: shown.folded, keepsAllocators: wanted.keepsAllocators },
      { go: graph.zoomTo, toggle: toggleAllocators },
    );
    showSelected(
      part(root, "selected"),
      { tree, words, selected: node, focus },
      { zoom: () => graph.zoomTo(node), link: () => page.link(state()) },
    );
  }

  function toggleAllocators() {
    wanted.keepsAllocators = !wanted.keepsAllocators;
    page.changed("replace");
    if (shown.urls) show(shown.urls, { unit: shown.unit });
  }

  /** Draws the payload at {overview, full}: the overview at once, then the rest, if there is more. Resolves when all is there. */
  async function show(urls, { unit }) {
    loading?.abort();
    loading = new AbortController();
    const { signal } = loading;
    Object.assign(shown, { urls, unit, isWhole: false });
    document.documentElement.dataset.viewer = "loading";
    try {
      const first = await fetched(urls.overview, signal);
      const rest = first.tree.header.overview ? fetched(urls.full, signal) : null;
      rest?.catch(() => {}); // told below; until then the overview is drawn
      draw(first);
      markDrawn("viewer-overview");
      if (rest) await painted();
      const whole = rest ? await rest : first;
      if (rest) draw(whole);
      markDrawn("viewer-ready");
      await complete(whole, signal);
      fail("");
    } catch (error) {
      if (!signal.aborted) fail(error.message);
    }
  }

  async function fetched(url, signal) {
    const loaded = await loadTree(url, { keepsAllocators: wanted.keepsAllocators, signal });
    signal.throwIfAborted();
    return loaded;
  }

  function draw({ tree, folded }) {
    const isPartial = Boolean(tree.header.overview);
    const moved = tree.total2 ? movements(tree) : null;
    shown.folded = folded;
    graph.show(tree, { words: frameWords(tree, { unit: shown.unit, isPartial, moved }), moved });
    restore({ isPartial });
    graph.draw();
    drawLines();
  }

  function restore({ isPartial }) {
    const focus = locate(wanted.focus);
    const target = locate(wanted.selected);
    graph.zoomTo(focus.node, { isInstant: true, isQuiet: true, range: focus.missing ? null : wanted.range });
    graph.select(target.node, { isQuiet: true });
    if (!isPartial) say([focus, target].filter(({ missing }) => missing > 0));
  }

  function locate(path) {
    const { tree } = graph.state;
    if (Array.isArray(path)) return { ...findPath(tree, path), name: path.at(-1) };
    const node = findHash(tree, path.hash);
    return { node: Math.max(0, node), missing: node < 0 ? 1 : 0, name: path.last };
  }

  function say(lost) {
    const lines = [
      ...new Set(
        lost.map(
          ({ name, node }) =>
            `The frame ${name} is not in this graph. ${node ? `The nearest one above it that is left, ${nameOf(graph.state.tree, node)}, is shown.` : "All is shown."}`,
        ),
      ),
    ];
    if (graph.state.tree.width[0] === 0)
      lines.push(
        graph.state.tree.n > 1
          ? "All values are zero, so no frame has a width. The table lists the functions."
          : "Nothing that is counted here happened while it was traced.",
      );
    part(root, "gone").replaceChildren(...lines.map((line) => element("p", { class: "small warn" }, line)));
  }

  function fail(words) {
    const line = part(root, "problem");
    setText(line, words);
    line.hidden = !words;
    if (words) sayReady();
  }

  async function complete({ buffer, tree }, signal) {
    shown.isWhole = true;
    figure.dataset.whole = "true";
    await worker.open(buffer, wanted.keepsAllocators);
    const [values] = await Promise.all([worker.functions(), search.run()]);
    if (signal.aborted) return;
    page.functions(tree, functionRows(tree.strings, values));
    requestAnimationFrame(() => requestAnimationFrame(sayReady));
  }

  function state() {
    return {
      ...wanted,
      selected: samePath(wanted.selected, wanted.focus) ? [] : wanted.selected,
      search: search.text(),
      view: graph.isFlame() ? "flame" : "icicle",
    };
  }

  for (const radio of part(root, "view").querySelectorAll("input")) {
    radio.addEventListener("change", () => {
      graph.setFlame(radio.value === "flame");
      page.changed("replace");
    });
  }

  return {
    show,
    state,
    /** Takes over what an address says; the tree is fetched anew only where that is needed. */
    apply(next) {
      const isOther = wanted.keepsAllocators !== next.keepsAllocators;
      Object.assign(wanted, {
        focus: next.focus,
        range: next.range,
        selected: next.selected.length || next.selected.hash ? next.selected : next.focus,
        keepsAllocators: next.keepsAllocators,
      });
      search.setText(next.search);
      for (const radio of part(root, "view").querySelectorAll("input")) radio.checked = radio.value === next.view;
      graph.setFlame(next.view === "flame");
      if (!graph.state.tree || isOther) return;
      restore({ isPartial: !shown.isWhole });
      drawLines();
      search.run();
    },
    /** Zooms to the widest frame of a function and selects it. */
    goTo(name) {
      const node = findWidest(graph.state.tree, name);
      if (node < 0) return;
      graph.select(node);
      graph.zoomTo(node);
      figure.scrollIntoView({ block: "nearest" });
    },
    tree: () => graph.state.tree,
    movements: () => graph.state.moved,
    boxOf: (name) => boxOf(graph, figure, name),
  };
}

// Timings are read from these marks: set once what was drawn has been seen.
const markDrawn = (name) => requestAnimationFrame(() => requestAnimationFrame(() => performance.mark(name)));

// For tests of the page: graph, table and search are there.
const sayReady = () => (document.documentElement.dataset.viewer = "ready");

// A frame of the browser, so that the overview is seen before the rest is decoded; a hidden page has none.
const painted = () =>
  new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
    setTimeout(resolve, 100);
  });

const samePath = (a, b) =>
  Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((name, i) => name === b[i]);

function searchParts(root) {
  return Object.fromEntries(
    ["matched", "hint", "previous", "next"]
      .map((name) => [name, part(root, name)])
      .concat([
        ["input", part(root, "search")],
        ["legend", part(root, "legend-match")],
      ]),
  );
}

// For tests of the page: where the widest frame of that name is in the window, scrolled to if it has to be.
function boxOf(graph, figure, name) {
  const node = graph.state.tree ? findWidest(graph.state.tree, name) : -1;
  if (node < 0) return null;
  figure.scrollIntoView({ block: "nearest" });
  return graph.boxOf(node);
}
