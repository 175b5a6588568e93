// One graph with all that belongs to it: views, steps, search, selection, table of functions, and the part of the address they share.
import { bindColouring } from "./colouring.js";
import { movements } from "./diff.js";
import { element, part, setText } from "./dom.js";
import { bindFrameActions } from "./frame-actions.js";
import { findPath, findWidest, pathOf } from "./frame-path.js";
import { goneWords, locate } from "./gone.js";
import { frameWords } from "./frame-words.js";
import { bindGraph } from "./graph.js";
import { bindKeyHelp } from "./key-help.js";
import { nameOf } from "./layout.js";
import { showPath } from "./path-bar.js";
import { payloadLoader } from "./payload-load.js";
import { bindSearch } from "./search-box.js";
import { showSelected } from "./selected-line.js";
import { functionRows } from "./top-table.js";
import { bindViews } from "./view-switch.js";
import { VIEWS, isPlain } from "./views.js";
import { workerClient } from "./worker-client.js";

/**
 * Binds the parts below `root`. `page` has base(tree, focus) for what 100 % is, functions(tree, rows) for its table, changed(how)
 * when the address has to follow, and link(state) for an address that shows a state.
 */
export function bindViewer(root, page) {
  // What is wanted of the next tree, by names: a live graph grows under the same zoom and selection.
  const wanted = { focus: [], range: null, selected: [], keepsAllocators: false, view: "icicle", fn: "", transforms: [], colour: { mode: "", youngest: 0 } };
  const shown = { unit: "", urls: null, bands: [], isWhole: false, drawn: null, key: "", hasCallers: false, active: null };
  const figure = part(root, "graph");
  const worker = workerClient(() => new Worker(figure.dataset.worker, { type: "module" }));
  const data = payloadLoader(worker);
  const graph = bindGraph(figure, { zoomed, selected: () => selected(graph), key: keyed });
  shown.active = graph;
  const callers = lazily(() =>
    bindGraph(part(root, "callers"), { zoomed: callersZoomed, selected: () => selected(callers()), key: keyed }),
  );
  const search = bindSearch(searchParts(root), {
    graph,
    others,
    match: (text) => worker.match(text),
    unit: () => shown.unit,
    onChange: () => page.changed("replace"),
  });
  const keyHelp = bindKeyHelp(part(root, "keys"));
  const views = bindViews(part(root, "view"), { choose: chooseView });
  const colouring = bindColouring(root, { choose: chooseColour, graphs: () => [graph, ...others()], along: data.along });
  const frameActions = bindFrameActions({ change: changeTo, add: addStep });
  let loading = null;
  let round = 0;

  function zoomed({ isByHand }) {
    wanted.focus = pathOf(graph.state.tree, graph.state.focus);
    wanted.range = graph.range();
    drawLines();
    page.changed(isByHand ? "replace" : "push");
    if (wanted.view === "bottom-up" && graph.state.tree.header.cut) reshape();
  }

  function callersZoomed() {
    if (callers().state.tree.header.cut) reshape();
  }

  function selected(which) {
    shown.active = which;
    const { tree, selected: node } = which.state;
    if (which === graph) wanted.selected = pathOf(tree, node);
    drawLines();
    page.selected(nameOf(tree, node));
    page.changed("replace");
  }

  function keyed(action) {
    if (action === "search") search.focus();
    else if (action === "help") keyHelp.open();
    else if (action === "next" || action === "previous") search.step(action === "next" ? 1 : -1);
    else if (action.startsWith("view:")) chooseView(action.slice("view:".length));
    else if (action === "undo") changeTo({ transforms: wanted.transforms.slice(0, -1) });
    else frameActions.run(action, selectedFrame());
  }

  /** The view as views.js needs it. */
  function viewWanted() {
    const { fn, transforms, keepsAllocators } = wanted;
    const view = VIEWS[wanted.view].isFlame ? "icicle" : wanted.view; // the same tree
    const paths = { "bottom-up": wanted.focus, sandwich: shown.hasCallers ? callersFocus() : [] };
    return { view, fn, transforms, keepsAllocators, path: Array.isArray(paths[view]) ? paths[view] : [] };
  }

  const callersFocus = () => pathOf(callers().state.tree, callers().state.focus);

  function selectedFrame() {
    const { tree, selected: node } = shown.active.state;
    return {
      name: nameOf(tree, node),
      path: pathOf(tree, node),
      isRoot: node === 0,
      isInverted: wanted.view === "bottom-up" || shown.active !== graph,
      view: wanted.view,
      transforms: wanted.transforms,
    };
  }

  function chooseView(view) {
    if (view === "sandwich") {
      const { isRoot, name } = selectedFrame();
      const fn = wanted.fn || (isRoot ? views.widest() : name);
      if (fn) changeTo({ view, fn: isRoot ? fn : name });
      return;
    }
    changeTo({ view });
  }

  function others() {
    return shown.hasCallers ? [callers()] : [];
  }

  function chooseColour(colour) {
    wanted.colour = colour;
    page.changed("replace");
    recolour();
  }

  const recolour = () =>
    colouring.apply(wanted.colour, { ...shown, wanted: viewWanted() }).catch((error) => fail(error.message));

  function addStep(transform) {
    changeTo({ transforms: [...wanted.transforms, transform] });
  }

  /** Shows another view, or the same with other steps: what is zoomed and selected in the old one has no meaning in it. */
  function changeTo(next) {
    const before = JSON.stringify(viewWanted());
    Object.assign(wanted, next);
    views.show(wanted);
    if (before === JSON.stringify(viewWanted())) graph.setFlame(VIEWS[wanted.view].isFlame);
    else Object.assign(wanted, { focus: [], range: null, selected: [] });
    page.changed("push");
    if (before !== JSON.stringify(viewWanted())) reshape();
  }

  function drawLines() {
    const { tree, focus } = graph.state;
    const { keepsAllocators, transforms } = wanted;
    showPath(
      part(root, "path"),
      { tree, focus, base: page.base(tree, focus), folded: shown.drawn.folded, keepsAllocators, transforms },
      { go: graph.zoomTo, toggle: toggleAllocators, remove: removeStep },
    );
    const { tree: of, words, selected: node, focus: seen } = shown.active.state;
    showSelected(
      part(root, "selected"),
      { tree: of, words, selected: node, focus: seen },
      { zoom: () => shown.active.zoomTo(node), link: () => page.link(state()), actions: frameActions.of(selectedFrame()) },
    );
  }

  const removeStep = (at) => changeTo({ transforms: wanted.transforms.filter((_, i) => i !== at) });

  function toggleAllocators() {
    wanted.keepsAllocators = !wanted.keepsAllocators;
    page.changed("replace");
    if (shown.urls) show(shown.urls, shown);
  }

  /** Draws the payload at {overview, full}: the overview at once, then the rest, if there is more. Resolves when all is there. */
  async function show(urls, { unit, bands = [] }) {
    loading?.abort();
    loading = new AbortController();
    const { signal } = loading;
    Object.assign(shown, { urls, unit, bands, isWhole: false });
    document.documentElement.dataset.viewer = "loading";
    try {
      const first = await data.overview(urls.overview, viewWanted(), signal);
      signal.throwIfAborted();
      draw(first);
      markDrawn("viewer-overview");
      if (first.isPartial) await painted();
      const whole = first.isPartial ? await data.whole(urls.full, viewWanted(), signal) : first;
      signal.throwIfAborted();
      if (first.isPartial) draw(whole);
      markDrawn("viewer-ready");
      await complete(whole.buffer, signal);
      fail("");
    } catch (error) {
      if (!signal.aborted) fail(error.message);
    }
  }

  function draw(drawn) {
    const { tree, isPartial } = drawn;
    shown.drawn = drawn;
    shown.key = JSON.stringify(viewWanted());
    figure.classList.toggle("sandwiched", Boolean(drawn.callers));
    drawIn(graph, tree, isPartial);
    graph.setFlame(VIEWS[wanted.view].isFlame);
    drawCallers(drawn.callers, isPartial);
    colouring.offer(tree, shown.bands);
    restore({ isPartial });
    graph.draw();
    drawLines();
    recolour();
  }

  function drawIn(which, tree, isPartial) {
    const moved = tree.total2 ? movements(tree) : null;
    const words = frameWords(tree, { unit: shown.unit, isPartial, moved });
    which.show(tree, { words, moved, colour: { mode: tree.total2 ? "change" : "memory" } });
  }

  function drawCallers(tree, isPartial) {
    part(root, "callers").hidden = !tree;
    const focus = tree && shown.hasCallers ? callersFocus() : [];
    shown.hasCallers = Boolean(tree);
    if (!tree) {
      shown.active = graph;
      return;
    }
    drawIn(callers(), tree, isPartial);
    callers().setFlame(true);
    callers().zoomTo(findPath(tree, focus).node, { isInstant: true, isQuiet: true });
    callers().select(0, { isQuiet: true });
    callers().draw();
  }

  function restore({ isPartial }) {
    const { tree } = graph.state;
    const focus = locate(tree, wanted.focus);
    const target = locate(tree, wanted.selected);
    graph.zoomTo(focus.node, { isInstant: true, isQuiet: true, range: focus.missing ? null : wanted.range });
    graph.select(target.node, { isQuiet: true });
    const lines = isPartial ? [] : goneWords(tree, [focus, target], wanted);
    part(root, "gone").replaceChildren(...lines.map((line) => element("p", { class: "small warn" }, line)));
  }

  function fail(words) {
    const line = part(root, "problem");
    setText(line, words);
    line.hidden = !words;
    if (words) sayReady();
  }

  /** Gives the Worker what was drawn here, and draws what was asked for meanwhile. */
  async function complete(buffer, signal) {
    shown.isWhole = true;
    figure.dataset.whole = "true";
    if (buffer) {
      await data.open(buffer, viewWanted());
      if (!isPlain(wanted)) await data.view(viewWanted());
    }
    if (shown.key !== JSON.stringify(viewWanted())) return reshape();
    await Promise.all([recolour(), count(() => signal.aborted)]);
  }

  async function count(isOld) {
    const [values] = await Promise.all([worker.functions(), search.run()]);
    if (isOld()) return;
    const rows = functionRows(graph.state.tree.strings, values);
    views.setWidest(rows);
    page.functions(graph.state.tree, rows);
    requestAnimationFrame(() => requestAnimationFrame(sayReady));
  }

  /** Draws what is wanted now of the payload that the Worker has; until all of it is there, `show` will. */
  async function reshape() {
    const mine = ++round;
    if (!shown.isWhole) return;
    document.documentElement.dataset.viewer = "loading";
    try {
      const drawn = await data.view(viewWanted());
      if (mine !== round) return;
      draw(drawn);
      fail("");
      await count(() => mine !== round);
    } catch (error) {
      if (mine === round) fail(error.message);
    }
  }

  function state() {
    return { ...wanted, selected: samePath(wanted.selected, wanted.focus) ? [] : wanted.selected, search: search.text() };
  }

  return {
    show,
    state,
    /** Takes over what an address says; the tree is made anew only where that is needed. */
    apply(next) {
      const before = JSON.stringify(viewWanted());
      const { keepsAllocators } = wanted;
      Object.assign(wanted, {
        focus: next.focus,
        range: next.range,
        selected: next.selected.length || next.selected.hash ? next.selected : next.focus,
        keepsAllocators: next.keepsAllocators,
        view: next.view,
        fn: next.fn,
        transforms: next.transforms,
        colour: next.colour,
      });
      search.setText(next.search);
      views.show(wanted);
      if (!graph.state.tree || keepsAllocators !== wanted.keepsAllocators) return;
      if (before !== JSON.stringify(viewWanted())) {
        reshape();
        return;
      }
      graph.setFlame(VIEWS[wanted.view].isFlame);
      restore({ isPartial: !shown.isWhole });
      drawLines();
      recolour();
      search.run();
    },
    /** Zooms to the widest frame of a function and selects it; in a sandwich the function takes the middle. */
    goTo(name) {
      if (wanted.view === "sandwich") return changeTo({ view: "sandwich", fn: name });
      const node = findWidest(graph.state.tree, name);
      if (node < 0) return;
      graph.select(node);
      graph.zoomTo(node);
      figure.scrollIntoView({ block: "nearest" });
    },
    tree: () => graph.state.tree,
    movements: () => graph.state.moved,
    boxOf: (name) => boxOf(graph, figure, name),
    shadeOf: (name) => graph.state.shadeOf(findWidest(graph.state.tree, name)),
  };
}

function lazily(make) {
  let made = null;
  return () => (made ??= make());
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
