// Changes of what a graph is made of: hide, focus, collapse, merge, keep. Each makes another tree and leaves its input as it is.
import { CHANGES, nodesOfChange } from "./change-kinds.js";
import { links } from "./layout.js";
import { moduleOf } from "./module-names.js";
import { nestedFrames } from "./nesting.js";
import { compilePattern, matchNames } from "./search.js";
import { treeBuilder } from "./tree-builder.js";

/** Columns with what links() tells of their nodes, which transforms need; those that have it stay as they are. */
export const stacksOf = (columns) =>
  columns.parent ? columns : { ...columns, ...links(columns.childCounts, columns.n) };

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
    apply: (stacks, { name }) => focusOn(stacks, isNamed(stacks, name)),
  },
  "hide-function": {
    fields: ["name"],
    words: ({ name }) => `${name} counts as its callers'`,
    apply: (stacks, { name }) => fold(stacks, isNamed(stacks, name)),
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
    apply: (stacks, { name }) => leaveOut(stacks, isNamed(stacks, name)),
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

/** One byte for each node: is this its name? The root has none. */
export function isNamed({ names, strings, n }, name) {
  const id = strings.indexOf(name);
  const flags = new Uint8Array(n);
  for (let i = 1; i < n; i++) if (names[i] === id) flags[i] = 1;
  return flags;
}

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

// What becomes of a frame: it stays, its value goes to its caller, or it goes with all that it called.
const [FOLDED, LEFT_OUT] = [1, 2];

/**
 * Another tree of the same stacks. `roots` are the nodes that become its root, `starts` those that stand right below it;
 * `fates` says what becomes of each node, `counts` whose value is kept; `names` are other ids, of `strings`;
 * `also(node, place, builder)` may put more nodes where one stands.
 */
function regroup(
  stacks,
  { roots = [0], starts = [], fates, counts, names = stacks.names, strings = stacks.strings, also },
) {
  const { n, firstChild, self, self2, header } = stacks;
  const builder = treeBuilder({ items: n, names: strings.length, isDiff: Boolean(self2) });
  const fateOf = fates ?? new Uint8Array(n);
  for (const node of roots) builder.put(node, 0);
  for (const node of starts) builder.put(node, builder.child(0, names[node]));
  for (let place = 0; place < builder.count(); place++)
    for (let node = builder.firstItem(place); node >= 0; node = builder.nextItem(node)) {
      if (!counts || counts[node]) builder.add(place, self[node], self2?.[node]);
      also?.(node, place, builder);
      for (let child = firstChild[node], end = firstChild[node + 1]; child < end; child++)
        if (fateOf[child] !== LEFT_OUT)
          builder.put(child, fateOf[child] === FOLDED ? place : builder.child(place, names[child]));
    }
  return builder.columns(partHeader(header), strings);
}

/** The header of a part: the totals that it states are those of the whole tree. */
export const partHeader = ({ total, total2, whole, ...header }) => ({ ...header, whole: whole ?? { total, total2 } });

const fold = (stacks, isFolded) => regroup(stacks, { fates: isFolded });

const leaveOut = (stacks, isLeftOut) => regroup(stacks, { fates: isLeftOut.map((flag) => flag * LEFT_OUT) });

// Every outermost such frame stands below the root, with all that it called.
const focusOn = (stacks, isFocus) => regroup(stacks, { roots: [], starts: outermost(stacks, isFocus) });

/** What stands below some frames, none of them inside another: they are one, the root. */
export const below = (stacks, outer) => regroup(stacks, { roots: outer });

/** The nodes of flagged ones that stand below no other. */
export function outermost({ n, parent }, flags) {
  const isInside = Uint8Array.from(flags);
  const found = [];
  for (let i = 1; i < n; i++) {
    if (isInside[parent[i]]) isInside[i] = 1;
    else if (flags[i]) found.push(i);
  }
  return Int32Array.from(found);
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
  const isKept = counts.slice();
  for (let i = n - 1; i > 0; i--) isKept[parent[i]] |= isKept[i];
  return regroup(stacks, { fates: isKept.map((flag) => (1 - flag) * LEFT_OUT), counts });
}

// A run alone has no changes, so a step from the link of a difference leaves it as it is.
function keepChange(stacks, what) {
  if (!stacks.self2) return stacks;
  const kept = keepStacks(stacks, nodesOfChange(stacks, what));
  return { ...kept, header: { ...kept.header, only: what } };
}

/** The same stacks, the widest child first: another measure of them has another order. */
export const inOrder = (stacks) => regroup(stacks, {});

// A frame below another of its name stands where that one stands, and so does what both call.
function collapseRecursion(stacks) {
  const standsFor = outerFrames(stacks);
  const fates = new Uint8Array(stacks.n);
  const [first, behind] = [new Int32Array(stacks.n), new Int32Array(stacks.n)]; // lists of what stands at a frame too
  for (let i = stacks.n - 1; i > 0; i--) {
    if (standsFor[i] === i) continue;
    fates[i] = LEFT_OUT;
    behind[i] = first[standsFor[i]];
    first[standsFor[i]] = i;
  }
  const also = (node, place, builder) => {
    for (let at = first[node]; at > 0; at = behind[at]) builder.put(at, place);
  };
  return regroup(stacks, { fates, also });
}

/** By node the frame that it is one with when recursion is collapsed; most are so with themselves. */
function outerFrames(stacks) {
  const { n, names, parent } = stacks;
  const isNested = nestedFrames(stacks);
  const [standsFor, above] = [new Int32Array(n), new Int32Array(n)]; // `above`: the next frame of the collapsed stack
  for (let i = 1; i < n; i++) {
    above[i] = standsFor[parent[i]];
    let at = isNested[i] ? above[i] : 0;
    while (at > 0 && names[at] !== names[i]) at = above[at];
    standsFor[i] = at > 0 ? at : i;
  }
  return standsFor;
}

function mergeByModule(stacks) {
  const strings = [...stacks.strings];
  const idByName = new Map(strings.map((name, id) => [name, id]));
  const idOf = (name) => {
    if (!idByName.has(name)) idByName.set(name, strings.push(name) - 1);
    return idByName.get(name);
  };
  const moduleId = stacks.strings.map((name) => idOf(moduleOf(name)));
  const names = stacks.names.map((name) => moduleId[name]);
  const fates = new Uint8Array(stacks.n);
  for (let i = 1; i < stacks.n; i++)
    if (stacks.parent[i] > 0 && names[stacks.parent[i]] === names[i]) fates[i] = FOLDED;
  return regroup(stacks, { names, strings, fates });
}
