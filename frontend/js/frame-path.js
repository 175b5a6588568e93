// Names a frame by its path, so that a link finds it again in another tree, and finds a frame by such a path.

/** Names from the root's child down to the node; [] is the root. */
export function pathOf(tree, node) {
  const path = [];
  for (let i = node; i > 0; i = tree.parent[i]) path.push(tree.strings[tree.names[i]]);
  return path.reverse();
}

/** Nodes from the root to the node. */
export function ancestorsOf(tree, node) {
  const nodes = [];
  for (let i = node; i >= 0; i = tree.parent[i]) nodes.push(i);
  return nodes.reverse();
}

/** The node at a path, or the deepest one that is still there: `missing` counts the names that are not. */
export function findPath(tree, path) {
  let node = 0;
  for (let k = 0; k < path.length; k++) {
    const child = childNamed(tree, node, path[k]);
    if (child < 0) return { node, missing: path.length - k };
    node = child;
  }
  return { node, missing: 0 };
}

function childNamed(tree, node, name) {
  for (let child = tree.firstChild[node], end = tree.firstChild[node + 1]; child < end; child++) {
    if (tree.strings[tree.names[child]] === name) return child;
  }
  return -1;
}

/** The widest node of that name, -1 if there is none. */
export function findWidest(tree, name) {
  const id = tree.strings.indexOf(name);
  let best = -1;
  for (let i = 1; i < tree.n; i++) {
    if (tree.names[i] === id && (best < 0 || tree.width[i] > tree.width[best])) best = i;
  }
  return best;
}

/** The deepest node that spans all of [v0, v1]. */
export function nodeAround(tree, v0, v1) {
  const slack = (v1 - v0) * 1e-9;
  let node = 0;
  for (;;) {
    const child = childAround(tree, node, v0 + slack, v1 - slack);
    if (child < 0) return node;
    node = child;
  }
}

function childAround(tree, node, v0, v1) {
  for (let child = tree.firstChild[node], end = tree.firstChild[node + 1]; child < end; child++) {
    if (tree.x0[child] <= v0 && tree.x0[child] + tree.width[child] >= v1) return child;
  }
  return -1;
}

/** Whether two paths of names are the same, or the hashes that are known of them. */
export const isSamePath = (a, b) =>
  Array.isArray(a) && Array.isArray(b)
    ? a.length === b.length && a.every((name, i) => name === b[i])
    : Boolean(a.hash) && a.hash === b.hash;
