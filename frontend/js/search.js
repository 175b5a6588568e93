// Finds frames by expression: over the unique names first, then one pass over the nodes; nested matches count once.

const MAX_PATTERN = 2000;

/** A regular expression for what was typed, or the text itself where that is none; `hint` says so in words. */
export function compilePattern(text) {
  if (!text) return { regex: null, hint: "" };
  if (text.length > MAX_PATTERN)
    return { regex: null, hint: `the expression is ${text.length} characters long, the limit is ${MAX_PATTERN}` };
  try {
    return { regex: new RegExp(text), hint: "" };
  } catch (error) {
    return { regex: literal(text), hint: `searched as text: ${whyInvalid(error)}` };
  }
}

const literal = (text) => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));

function whyInvalid({ message }) {
  const why = message.slice(message.lastIndexOf("/: ") + 3);
  const words = {
    "Unterminated group": "( is not closed, so this is no expression",
    "Unmatched ')'": ") was not opened, so this is no expression",
    "Unterminated character class": "[ is not closed, so this is no expression",
    "Nothing to repeat": "there is nothing before *, + or ? to repeat",
    "\\ at end of pattern": "\\ at the end escapes nothing",
  };
  return words[why] ?? `this is no expression (${why})`;
}

/** One byte for each name: does it match? */
export function matchNames(strings, regex) {
  const hits = new Uint8Array(strings.length);
  for (let i = 0; i < hits.length; i++) hits[i] = regex.test(strings[i]) ? 1 : 0;
  return hits;
}

/**
 * The nodes of matching names. `total`, `total2` and `width` add up the outermost matches only, so that a match inside
 * another counts once; `before[i]` is the number of matches before node i, for bars and for going through them.
 */
export function matchNodes(tree, hits) {
  const { n, names, parent } = tree;
  const isInside = new Uint8Array(n);
  const before = new Uint32Array(n + 1);
  const found = { hits, before, frames: 0, outermost: [], total: 0, total2: 0, width: 0 };
  for (let i = 1; i < n; i++) {
    before[i] = found.frames;
    const isHit = hits[names[i]];
    if (isInside[parent[i]]) isInside[i] = 1;
    else if (isHit) {
      isInside[i] = 1;
      addOutermost(found, tree, i);
    }
    found.frames += isHit;
  }
  before[n] = found.frames;
  return found;
}

function addOutermost(found, tree, node) {
  found.outermost.push(node);
  found.total += tree.total[node];
  found.width += tree.width[node];
  if (tree.total2) found.total2 += tree.total2[node];
}

/** The match after `node` (or before it), in level order and around the end; -1 without matches. */
export function neighbourMatch(tree, found, node, direction) {
  if (!found || found.frames === 0) return -1;
  for (let step = 1; step <= tree.n; step++) {
    const i = (((node + direction * step) % tree.n) + tree.n) % tree.n;
    if (i > 0 && found.hits[tree.names[i]]) return i;
  }
  return -1;
}

/** Where matches are on the whole width: [from, to] in pixels, joined where they touch. */
export function matchTicks(tree, found, width) {
  const scale = width / tree.width[0];
  const isMarked = new Uint8Array(width + 1);
  for (const node of found.outermost) {
    const from = Math.floor(tree.x0[node] * scale);
    const to = Math.max(from + 2, Math.ceil((tree.x0[node] + tree.width[node]) * scale));
    isMarked.fill(1, from, Math.min(to, width));
  }
  return rangesOf(isMarked);
}

function rangesOf(isMarked) {
  const ranges = [];
  let start = -1;
  for (let x = 0; x < isMarked.length; x++) {
    if (isMarked[x] && start < 0) start = x;
    if (!isMarked[x] && start >= 0) {
      ranges.push([start, x]);
      start = -1;
    }
  }
  return ranges;
}
