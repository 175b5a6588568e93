// One graph with all that belongs to it: views, steps, search, selection, table of functions, and the part of the address they share.
import { bindBeside } from "./beside-graph.js";
import { bindColouring } from "./colouring.js";
import { movements } from "./diff.js";
import { element, part, setText } from "./dom.js";
import { forTests } from "./for-tests.js";
import { bindFrameActions } from "./frame-actions.js";
import { frameMarkdown } from "./frame-markdown.js";
import { findPath, findWidest, isSamePath, pathOf } from "./frame-path.js";
import { goneWords, locate } from "./gone.js";
import { frameWords } from "./frame-words.js";
import { bindGraph } from "./graph.js";
import { bindListKeys } from "./graph-input.js";
import { keepingFocus } from "./kept-focus.js";
import { keyActions } from "./key-actions.js";
import { bindKeyHelp } from "./key-help.js";
import { nameOf } from "./layout.js";
import { bindLoading } from "./loading.js";
import { showList } from "./list-view.js";
import { showPath } from "./path-bar.js";
import { SCALES, drawableMeasure } from "./measure.js";
import { payloadLoader } from "./payload-load.js";
import { plateausOf } from "./plateaus.js";
import { bindSaving } from "./save-menu.js";
import { bindSearch, searchParts } from "./search-box.js";
import { showSelected } from "./selected-line.js";
import { bindSpoken } from "./spoken.js";
import { bindSteps } from "./steps-menu.js";
import { functionRows } from "./top-table.js";
import { toggled } from "./transforms.js";
import { bindViews } from "./view-switch.js";
import { VIEWS, treeViewOf } from "./views.js";
import { nothingWanted, wantedOf } from "./wanted.js";
import { workerClient } from "./worker-client.js";

/**
 * Binds the parts below `root`. `page` has title(), base(tree, focus) for what 100 % is, functions(tree, rows, {changes, unit})
 * for its table, changed(how) when the address has to follow, link(state) for an address that shows a state,
 * settled() when the first graph is drawn or can't be, and inOneFile() for the address of the page in one file; `reading` is how its graphs are read, if there is more to say than of any.
 */
export function bindViewer(root, page) {
  // What is wanted of the next tree, by names: a live graph grows under the same zoom and selection.
  const wanted = nothingWanted();
  const shown = {
    unit: "",
    urls: null,
    bands: [],
    drawn: null,
    hasCallers: false,
    seconds: null, // that the sides of a difference cover, if that is known
    active: null,
  };
  const figure = part(root, "graph");
  const worker = workerClient(() => new Worker(figure.dataset.worker, { type: "module" }));
  const data = payloadLoader(worker);
  const hovered = () => beside.hovered();
  const graph = bindGraph(figure, { zoomed, selected: () => selected(graph), hovered, key: keyed });
  shown.active = graph;
  const callers = lazily(() =>
    bindGraph(part(root, "callers"), { zoomed: callersZoomed, selected: () => selected(callers()), key: keyed }),
  );
  const beside = bindBeside(part(root, "beside"), graph, { zoomed, selected: () => selected(graph), key: keyed });
  const search = bindSearch(searchParts(root), {
    graph,
    others,
    match: (text) => worker.match(text),
    unit: () => unit(),
    onChange: () => page.changed("replace"),
  });
  const keyHelp = bindKeyHelp(part(root, "keys"));
  const views = bindViews(
    { group: part(root, "view"), reading: part(root, "reading") },
    { choose: chooseView, also: page.reading },
  );
  const colouring = bindColouring(root, {
    choose: chooseColour,
    graphs: () => [graph, ...others()],
    along: data.along,
  });
  const frameActions = bindFrameActions({ change: changeTo, add: addStep });
  const steps = bindSteps(part(root, "steps"), { add: addStep });
  const spoken = bindSpoken(part(root, "spoken"));
  const loading = bindLoading(data, viewWanted, { draw, count, fail });

  function zoomed({ isByHand }) {
    wanted.focus = pathOf(graph.state.tree, graph.state.focus);
    wanted.range = graph.range();
    beside.follow();
    drawLines();
    page.changed(isByHand ? "replace" : "push");
    if (wanted.view === "bottom-up" && graph.state.tree.header.cut) loading.reshape();
  }

  function callersZoomed() {
    if (callers().state.tree.header.cut) loading.reshape();
  }

  function selected(which) {
    shown.active = which;
    const { tree, selected: node } = which.state;
    if (which === graph) wanted.selected = pathOf(tree, node);
    beside.follow();
    drawLines();
    page.selected(nameOf(tree, node));
    page.changed("replace");
  }

  const byKey = keyActions(root, focusGraph, {
    help: keyHelp.open,
    next: () => search.step(1),
    previous: () => search.step(-1),
    undo: () => changeTo({ transforms: wanted.transforms.slice(0, -1) }),
    allocators: toggleAllocators,
  });

  function keyed(action, point) {
    if (byKey[action]) byKey[action](point);
    else if (action.startsWith("view:")) chooseView(action.slice("view:".length));
    else frameActions.run(action, selectedFrame());
  }

  function focusGraph() {
    if (wanted.view === "list") part(root, "list").querySelector("[tabindex]").focus();
    else shown.active.focusKeys();
  }

  /** The view as views.js needs it. */
  function viewWanted() {
    const { fn, transforms, keepsAllocators } = wanted;
    const view = treeViewOf(wanted.view);
    const measure = measureWanted();
    const paths = { "bottom-up": wanted.focus, sandwich: shown.hasCallers ? callersFocus() : [] };
    return { view, fn, transforms, measure, keepsAllocators, path: Array.isArray(paths[view]) ? paths[view] : [] };
  }

  const measureWanted = () => drawableMeasure(wanted.measure, shown.seconds);

  /** The unit of the numbers that are shown. */
  const unit = () => SCALES[measureWanted().scale].unitOf(shown.unit);

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
    return [...(shown.hasCallers ? [callers()] : []), ...beside.graphs()];
  }

  function chooseColour(colour) {
    wanted.colour = colour;
    page.changed("replace");
    recolour();
  }

  const recolour = () =>
    colouring
      .apply(wanted.colour, { ...shown, isWhole: loading.isWhole(), wanted: viewWanted() })
      .catch((error) => fail(error.message));

  function addStep(transform) {
    changeTo({ transforms: [...wanted.transforms, transform] });
  }

  /** Shows another view, or the same with other steps: what is zoomed and selected in the old one has no meaning in it. */
  function changeTo(next) {
    const before = JSON.stringify(viewWanted());
    Object.assign(wanted, next);
    showChoices();
    if (before === JSON.stringify(viewWanted())) turn();
    else Object.assign(wanted, { focus: [], range: null, selected: [] });
    page.changed("push");
    if (before === JSON.stringify(viewWanted())) return;
    spoken.wait();
    loading.reshape();
  }

  const drawLines = () => keepingFocus(root, fillLines, focusGraph);

  function fillLines() {
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
      {
        zoom: () => shown.active.zoomTo(node),
        link: () => page.link(state()),
        markdown: () => frameMarkdown(of, node, words.facts(node, 0), page.link(state())),
        actions: frameActions.of(selectedFrame()),
      },
    );
    if (wanted.view === "list") drawList();
  }

  /** Draws the same tree as a graph, a flame or a list. */
  function turn() {
    keepingFocus(root, showTurned, focusGraph);
    spoken.say(viewWanted(), wanted.view, graph.state.tree, page.base(graph.state.tree, 0));
  }

  function showTurned() {
    graph.setFlame(VIEWS[wanted.view].isFlame);
    beside.turn();
    figure.classList.toggle("listed", wanted.view === "list");
    part(root, "list").hidden = wanted.view !== "list";
    fillLines();
  }

  function drawList() {
    const { tree, focus, selected } = graph.state;
    const select = (node) => graph.select(node);
    showList(part(root, "list"), { tree, focus, selected, unit: unit() }, { select });
  }

  function showChoices() {
    views.show(wanted);
    steps.show(wanted.transforms);
  }

  const removeStep = (at) => changeTo({ transforms: wanted.transforms.filter((_, i) => i !== at) });

  function toggleAllocators() {
    wanted.keepsAllocators = !wanted.keepsAllocators;
    page.changed("replace");
    if (shown.urls) loading.show(shown.urls);
  }

  function draw(drawn) {
    const { tree, isPartial } = drawn;
    shown.drawn = drawn;
    figure.classList.toggle("sandwiched", Boolean(drawn.callers));
    drawIn(graph, tree, isPartial);
    drawCallers(drawn.callers, isPartial);
    beside.draw(drawn.beside, (which, before) => drawIn(which, before, isPartial));
    colouring.offer(tree, shown.bands);
    restore({ isPartial });
    turn();
    markPlateaus();
    recolour();
    graph.draw();
    page.settled?.();
  }

  function markPlateaus() {
    graph.setPlateaus(wanted.marks ? plateausOf(graph.state.tree) : null);
  }

  function drawIn(which, tree, isPartial) {
    const moved = tree.total2 ? movements(tree) : null;
    const words = frameWords(tree, { unit: unit(), isPartial, moved });
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
    beside.follow();
    const lines = isPartial ? [] : goneWords(tree, [focus, target], wanted);
    part(root, "gone").replaceChildren(...lines.map((line) => element("p", { class: "small warn" }, line)));
  }

  function fail(words) {
    const line = part(root, "problem");
    setText(line, words);
    line.hidden = !words;
    page.settled?.();
  }

  async function count(isOld) {
    figure.dataset.whole = "true";
    const [{ values, all, changes }] = await Promise.all([worker.functions(), search.run(), recolour()]);
    if (isOld()) return;
    const rows = functionRows(graph.state.tree.strings, values);
    views.setWidest(rows);
    page.functions(graph.state.tree, rows, { changes, all, unit: unit() });
  }

  function state() {
    return {
      ...wanted,
      selected: isSamePath(wanted.selected, wanted.focus) ? [] : wanted.selected,
      search: search.text(),
    };
  }

  part(root, "marks").addEventListener("change", ({ currentTarget }) => {
    wanted.marks = currentTarget.checked;
    page.changed("replace");
    markPlateaus();
  });
  part(root, "keep").addEventListener("click", () => addStep({ kind: "keep-matches", pattern: search.text() }));
  bindListKeys(part(root, "list"), keyed);
  bindSaving(part(root, "save"), {
    picture: () => graph.screen.picture(),
    head: () => [page.title(), page.base(graph.state.tree, graph.state.focus)],
    name: () => page.title(),
    page: () => ({ url: page.inOneFile(), fragment: page.link(state()).replace(/^[^#]*/, "") }),
    fail,
  });

  return {
    /** Draws the payload at {overview, full}; `bands` {label, url} are those of its ages. Resolves when all is there. */
    show(urls, { unit, bands = [], seconds = null }) {
      Object.assign(shown, { urls, unit, bands, seconds });
      return loading.show(urls);
    },
    state,
    unit,
    measure: (measure) => changeTo({ measure: { ...wanted.measure, ...measure } }),
    toggleStep: (transform) => changeTo({ transforms: toggled(wanted.transforms, transform) }),
    offerPresets: steps.offer,
    /** Takes over what an address says; the tree is made anew only where that is needed. */
    apply(next) {
      const before = JSON.stringify(viewWanted());
      const { keepsAllocators } = wanted;
      Object.assign(wanted, wantedOf(next));
      search.setText(next.search);
      part(root, "marks").checked = next.marks;
      showChoices();
      if (!graph.state.tree || keepsAllocators !== wanted.keepsAllocators) return;
      if (before !== JSON.stringify(viewWanted())) {
        loading.reshape();
        return;
      }
      restore({ isPartial: !loading.isWhole() });
      turn();
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
    forTests: forTests(figure, graph),
  };
}

function lazily(make) {
  let made = null;
  return () => (made ??= make());
}
