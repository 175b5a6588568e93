// Changes of what a graph is made of: hide, focus, collapse, merge, keep. Each makes another tree and leaves its input as it is.
import { CHANGES, nodesOfChange } from "./change-kinds.js";
import { moduleOf } from "./module-names.js";
import { compilePattern, matchNames } from "./search.js";
import { treeBuilder } from "./tree-builder.js";

/** Columns with the parent of each node, which transforms need. */
export function stacksOf(columns) {
  const parent = new Int32Array(columns.n).fill(-1);
  for (let i = 0, next = 1; i < columns.n; i++)
    for (const end = next + columns.childCounts[i]; next < end; next++) parent[next] = i;
  return { ...columns, parent };
}

/** Columns after transforms {kind, …} in their order. Names may be added behind those that there are: ids stay valid. */
export function applyTransforms(columns, transforms) {
  return transforms.reduce((now, transform) => KINDS[transform.kind].apply(stacksOf(now), transform), columns);
}

/**
 * Every kind: `fields` are what a transform of it has, `apply` makes the tree, `words` names it on its chip, `accepts` says
 * whether values that an address has are any.
 * What is hidden counts as its caller's, what is left out is gone: then percentages have a smaller base.
 */
export const KINDS = {
  focus: {
    fields: ["path"],
    words: ({ path }) => `only below ${path.at(-1)}`,
    apply: (stacks, { path }) => focusOn(stacks, nodeAtPath(stacks, path)),
  },
  "focus-function": {
    fields: ["name"],
    words: ({ name }) => `only ${name}, wherever it is called`,
    apply: (stacks, { name }) => focusOn(stacks, isNamed(stacks, [name])),
  },
  "hide-function": {
    fields: ["name"],
    words: ({ name }) => `${name} counts as its callers'`,
    apply: (stacks, { name }) => fold(stacks, isNamed(stacks, [name])),
  },
  "hide-module": {
    fields: ["name"],
    words: ({ name }) => `module ${name} counts as its callers'`,
    apply: (stacks, { name }) =>
      fold(
        stacks,
        byName(stacks, (each) => moduleOf(each) === name),
      ),
  },
  "leave-out": {
    fields: ["name"],
    words: ({ name }) => `without stacks through ${name}`,
    apply: (stacks, { name }) => leaveOut(stacks, isNamed(stacks, [name])),
  },
  "only-code": {
    fields: ["pattern", "title"],
    words: ({ title, pattern }) => `only ${title || pattern}`,
    apply: (stacks, { pattern }) => fold(stacks, not(byPattern(stacks, pattern))),
  },
  "keep-matches": {
    fields: ["pattern"],
    words: ({ pattern }) => `only stacks that match ${pattern}`,
    apply: (stacks, { pattern }) => keepMatches(stacks, byPattern(stacks, pattern)),
  },
  changed: {
    fields: ["what"],
    accepts: ([what]) => Object.hasOwn(CHANGES, what),
    words: ({ what }) => CHANGES[what],
    apply: (stacks, { what }) => keepChange(stacks, what),
  },
  recursion: {
    fields: [],
    words: () => "recursion is collapsed",
    apply: (stacks) => collapseRecursion(stacks),
  },
  modules: {
    fields: [],
    words: () => "functions are merged by module",
    apply: (stacks) => mergeByModule(stacks),
  },
};

/** The steps with this one at their end, in place of others of its kind; without it if it was there. */
export function toggled(transforms, transform) {
  const isThere = transforms.some((each) => JSON.stringify(each) === JSON.stringify(transform));
  const others = transforms.filter(({ kind }) => kind !== transform.kind);
  return isThere ? others : [...others, transform];
}

const not = (flags) => flags.map((flag) => 1 - flag);

/** One byte for each node: does its name pass? The root never does. */
function byName({ names, strings, n }, test) {
  const passes = Uint8Array.from(strings, (name) => (test(name) ? 1 : 0));
  const flags = new Uint8Array(n);
  for (let i = 1; i < n; i++) flags[i] = passes[names[i]];
  return flags;
}

const isNamed = (stacks, wanted) => byName(stacks, (name) => wanted.includes(name));

function byPattern(stacks, pattern) {
  const { regex } = compilePattern(pattern);
  const passes = regex ? matchNames(stacks.strings, regex) : new Uint8Array(stacks.strings.length);
  const flags = new Uint8Array(stacks.n);
  for (let i = 1; i < stacks.n; i++) flags[i] = passes[stacks.names[i]];
  return flags;
}

function nodeAtPath({ n, names, strings, parent }, path) {
  const flags = new Uint8Array(n);
  const depth = new Int32Array(n).fill(-1); // how much of the path leads here
  depth[0] = 0;
  for (let i = 1; i < n; i++) {
    const above = depth[parent[i]];
    if (above >= 0 && above < path.length && strings[names[i]] === path[above]) depth[i] = above + 1;
    if (depth[i] === path.length) flags[i] = 1;
  }
  return flags;
}

const LEFT_OUT = -1;

/**
 * The tree in which each node stands where `place(node, parentPlace, builder)` says, LEFT_OUT for nowhere. The value of
 * a node goes where it stands.
 */
function regroup(stacks, place, { root = 0, strings = stacks.strings, counts = null } = {}) {
  const { n, parent, self, self2, header } = stacks;
  const builder = treeBuilder({ isDiff: Boolean(self2) });
  const places = new Int32Array(n);
  places[0] = root;
  for (let i = 0; i < n; i++) {
    if (i > 0) places[i] = place(i, places[parent[i]], builder);
    if (places[i] !== LEFT_OUT && (!counts || counts[i])) builder.add(places[i], self[i], self2?.[i]);
  }
  return builder.columns(partHeader(header), strings);
}

/** The header of a part: the totals that it states are those of the whole tree. */
export const partHeader = ({ total, total2, whole, ...header }) => ({ ...header, whole: whole ?? { total, total2 } });

const fold = (stacks, isFolded) =>
  regroup(stacks, (node, above, builder) => (isFolded[node] ? above : builder.child(above, stacks.names[node])));

const leaveOut = (stacks, isLeftOut) =>
  regroup(stacks, (node, above, builder) =>
    above === LEFT_OUT || isLeftOut[node] ? LEFT_OUT : builder.child(above, stacks.names[node]),
  );

// Every outermost such frame stands below the root, with all that it called.
const focusOn = (stacks, isFocus) =>
  regroup(
    stacks,
    (node, above, builder) => {
      if (above !== LEFT_OUT) return builder.child(above, stacks.names[node]);
      return isFocus[node] ? builder.child(0, stacks.names[node]) : LEFT_OUT;
    },
    { root: LEFT_OUT },
  );

/** What stands below some frames, none of them inside another: they are one, the root. */
export function below(stacks, outermost) {
  const isOuter = new Uint8Array(stacks.n);
  for (const node of outermost) isOuter[node] = 1;
  const place = (node, above, builder) => {
    if (above !== LEFT_OUT) return builder.child(above, stacks.names[node]);
    return isOuter[node] ? 0 : LEFT_OUT;
  };
  return regroup(stacks, place, { root: LEFT_OUT });
}

// A stack is kept whole if a frame of it matches; what ends above the first match is not kept.
function keepMatches(stacks, isMatch) {
  const { n, parent } = stacks;
  const isInside = Uint8Array.from(isMatch);
  for (let i = 1; i < n; i++) isInside[i] |= isInside[parent[i]];
  return keepStacks(stacks, isInside);
}

// The stacks that end in these nodes.
function keepStacks(stacks, counts) {
  const { n, parent } = stacks;
  const isKept = Uint8Array.from(counts);
  for (let i = n - 1; i > 0; i--) isKept[parent[i]] |= isKept[i];
  const place = (node, above, builder) => (isKept[node] ? builder.child(above, stacks.names[node]) : LEFT_OUT);
  return regroup(stacks, place, { counts });
}

// A run alone has no changes, so a step from the link of a difference leaves it as it is.
function keepChange(stacks, what) {
  if (!stacks.self2) return stacks;
  const kept = keepStacks(stacks, nodesOfChange(stacks, what));
  return { ...kept, header: { ...kept.header, only: what } };
}

/** The same stacks, the widest child first: another measure of them has another order. */
export const inOrder = (stacks) => regroup(stacks, (node, above, builder) => builder.child(above, stacks.names[node]));

// A frame below another of its name stands where that one stands, and so does what both call.
function collapseRecursion(stacks) {
  return regroup(stacks, (node, above, builder) => {
    const name = stacks.names[node];
    for (let at = above; at > 0; at = builder.parentOf(at)) if (builder.nameOf(at) === name) return at;
    return builder.child(above, name);
  });
}

function mergeByModule(stacks) {
  const strings = [...stacks.strings];
  const idByName = new Map(strings.map((name, id) => [name, id]));
  const idOf = (name) => {
    if (!idByName.has(name)) idByName.set(name, strings.push(name) - 1);
    return idByName.get(name);
  };
  const moduleId = stacks.strings.map((name) => idOf(moduleOf(name)));
  const place = (node, above, builder) => {
    const name = moduleId[stacks.names[node]];
    return above > 0 && builder.nameOf(above) === name ? above : builder.child(above, name);
  };
  return regroup(stacks, place, { strings });
}
