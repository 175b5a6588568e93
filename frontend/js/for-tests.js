// What tests of a page ask of its graph: which tree it has, where its frames are in the window, and their shades.
import { findWidest } from "./frame-path.js";

export function forTests(figure, graph) {
  const widest = (name) => (graph.state.tree ? findWidest(graph.state.tree, name) : -1);

  return {
    tree: () => graph.state.tree,
    /** Of the widest frame of that name, scrolled to if it has to be; null if it is not seen. */
    frameRect(name) {
      const node = widest(name);
      if (node < 0) return null;
      figure.scrollIntoView({ block: "nearest" });
      return graph.boxOf(node);
    },
    frameAt: (clientX, clientY) => graph.nodeUnder({ clientX, clientY }),
    shadeOf: (name) => graph.state.shadeOf(widest(name)),
  };
}
