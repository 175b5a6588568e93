// The side before of a difference beside the graph of the side after: the same paths are hovered, selected and zoomed in both.
import { findPath, pathOf } from "./frame-path.js";
import { bindGraph } from "./graph.js";

/** Binds a figure, which is null where there are no sides, to `graph`; `on` is as that graph has it. */
export function bindBeside(figure, graph, on) {
  let own = null;
  let isShown = false;

  function bound() {
    return (own ??= bindGraph(figure, {
      zoomed: (how) => (zoomAlong(own, graph), on.zoomed(how)),
      selected: () => (selectAlong(own, graph), on.selected()),
      hovered: () => hoverAlong(own, graph),
      key: on.key,
    }));
  }

  return {
    graphs: () => (isShown ? [own] : []),
    /** Draws a tree with `drawIn(graph, tree)`, null for none. */
    draw(tree, drawIn) {
      isShown = Boolean(tree);
      if (!figure) return;
      figure.hidden = !tree;
      figure.parentElement.classList.toggle("two", isShown);
      if (!isShown) return;
      drawIn(bound(), tree);
      own.setFlame(graph.isFlame());
    },
    hovered: () => isShown && hoverAlong(graph, own),
    /** Goes where the graph went. */
    follow() {
      if (!isShown) return;
      zoomAlong(graph, own);
      selectAlong(graph, own);
    },
    turn: () => isShown && own.setFlame(graph.isFlame()),
  };
}

const same = (from, to, node) => findPath(to.state.tree, pathOf(from.state.tree, node));

function zoomAlong(from, to) {
  const { node, missing } = same(from, to, from.state.focus);
  to.zoomTo(node, { isInstant: true, isQuiet: true, range: missing ? null : from.range() });
}

function selectAlong(from, to) {
  to.select(same(from, to, from.state.selected).node, { isQuiet: true });
}

function hoverAlong(from, to) {
  const { node, missing } = from.state.hover < 0 ? { missing: 1 } : same(from, to, from.state.hover);
  to.ring(missing ? -1 : node);
}
