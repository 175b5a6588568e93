// How old the bytes of a tree's frames are: values of bands of age, each a tree of its own, to the band of a frame.

/** Totals of columns by node of `tree`, matched by path; 0 where they have no such path. */
export function totalsAlong(tree, { n, childCounts, names, self, strings }) {
  const total = new Float64Array(tree.n);
  const sameName = namesTo(tree.strings, strings);
  const places = new Int32Array(n).fill(-1);
  places[0] = 0;
  for (let i = 0, next = 1; i < n; i++) {
    const children = places[i] < 0 ? null : childrenByName(tree, places[i]);
    for (const end = next + childCounts[i]; next < end; next++)
      places[next] = children ? children(sameName[names[next]]) : -1;
    if (places[i] >= 0) total[places[i]] += self[i];
  }
  for (let i = tree.n - 1; i > 0; i--) total[tree.parent[i]] += total[i];
  return total;
}

/** For each of `others` its place in `strings`, -1 for none. */
function namesTo(strings, others) {
  const places = new Map(strings.map((name, id) => [name, id]));
  return Int32Array.from(others, (name) => places.get(name) ?? -1);
}

const FEW = 8;

function childrenByName({ firstChild, names }, node) {
  const [from, to] = [firstChild[node], firstChild[node + 1]];
  if (to - from > FEW) {
    const known = new Map();
    for (let child = from; child < to; child++) known.set(names[child], child);
    return (name) => known.get(name) ?? -1;
  }
  return (name) => {
    for (let child = from; child < to; child++) if (names[child] === name) return child;
    return -1;
  };
}

/** Ages of a tree from the totals of its bands, the youngest first. */
export function agesOf(bands) {
  return {
    count: bands.length,
    /** The band of age that half of a frame's bytes have reached, of those from `youngest` on; -1 where it has none. */
    bandOf(node, youngest = 0) {
      let sum = 0;
      for (let band = youngest; band < bands.length; band++) sum += bands[band][node];
      if (sum <= 0) return -1;
      let older = sum;
      for (let band = youngest; band < bands.length; band++) {
        older -= bands[band][node];
        if (2 * older < sum) return band;
      }
      return bands.length - 1;
    },
    /** Which of `steps` colours a band has: the oldest the last. */
    step: (band, steps) => Math.max(0, steps - bands.length + band),
  };
}
