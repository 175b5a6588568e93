// Marks the frames that stand below another of their name: what they hold is counted there already.

/**
 * One byte for each node. Depth first with a stack of our own, since a stack may be 65,536 frames deep; each row is
 * gone through from left to right, so memory is read in order.
 */
export function nestedFrames({ n, names, strings, firstChild, rows }) {
  const isNested = new Uint8Array(n);
  const open = new Uint32Array(strings.length); // by name: frames on the path
  const path = new Int32Array(rows.length);
  const nextChild = new Uint32Array(rows.length);
  let depth = 0;
  nextChild[0] = firstChild[0];
  while (depth >= 0) {
    const node = path[depth];
    if (nextChild[depth] < firstChild[node + 1]) {
      const child = nextChild[depth]++;
      if (open[names[child]] > 0) isNested[child] = 1;
      if (firstChild[child] === firstChild[child + 1]) continue; // the end of a stack: two in five are
      open[names[child]]++;
      path[++depth] = child;
      nextChild[depth] = firstChild[child];
    } else {
      if (node > 0) open[names[node]]--;
      depth--;
    }
  }
  return isNested;
}
