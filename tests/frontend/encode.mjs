// Writes FGB2 payloads for tests, from folded stacks or from random trees, by the grammar in docs/formats.md.
import { self2Of, selfOf } from "../../frontend/js/layout.js";

/** A laid out tree as the stacks that it was made of. */
export function stacksOfTree(tree) {
  const column = (valueOf) => Float64Array.from({ length: tree.n }, (_, node) => valueOf(tree, node));
  return { ...tree, self: column(selfOf), self2: tree.total2 ? column(self2Of) : null };
}

/** Columns in level order of {"a;b": 10} or, for a difference, {"a;b": [before, after]}. */
export function columnsOf(valueByStack, { isDiff = false } = {}) {
  const root = newNode("");
  for (const [stack, value] of Object.entries(valueByStack)) addStack(root, stack.split(";"), [value].flat());
  const order = [root];
  for (let i = 0; i < order.length; i++) for (const child of sorted(order[i])) order.push(child);
  const strings = [...new Set(order.slice(1).map((node) => node.name))];
  const ids = new Map(strings.map((name, id) => [name, id]));
  return {
    nch: order.map((node) => node.children.size),
    name: order.map((node) => ids.get(node.name) ?? 0),
    self: order.map((node) => node.values[0] ?? 0),
    self2: isDiff ? order.map((node) => node.values[1] ?? 0) : null,
    strings: strings.length ? strings : [""],
  };
}

const newNode = (name) => ({ name, values: [0, 0], children: new Map() });

function addStack(root, names, values) {
  let node = root;
  for (const name of names) {
    if (!node.children.has(name)) node.children.set(name, newNode(name));
    node = node.children.get(name);
  }
  values.forEach((value, i) => (node.values[i] += value));
}

function sorted(node) {
  return [...node.children.values()].sort((a, b) => widthOf(b) - widthOf(a));
}

function widthOf(node) {
  let width = Math.max(...node.values.map(Math.abs));
  for (const child of node.children.values()) width += widthOf(child);
  return width;
}

/** The bytes of a payload; `header` overrides fields of the header. */
export function encode({ nch, name, self, self2, strings }, header = {}) {
  const values = self2 ? [...self, ...self2] : self;
  const encoding =
    header.encoding ??
    (values.every(Number.isInteger) ? (values.some((value) => value < 0) ? "zigzag" : "uvarint") : "float64");
  const unit = encoding === "float64" ? 1 : Math.max(1, values.reduce(gcd, 0));
  const columns = [
    ["nch", varints(nch)],
    ["name", varints(name)],
    ["self", written(self, encoding, unit)],
  ];
  if (self2) columns.push(["self2", written(self2, encoding, unit)]);
  columns.push(["strings", [...new TextEncoder().encode(strings.join("\0"))]]);
  const stated = {
    v: 2,
    n: nch.length,
    sections: columns.map(([section, bytes]) => [section, bytes.length]),
    encoding,
    unit,
    value_type: {
      name: "outstanding_bytes",
      unit: "bytes",
      kind: "level",
      meaning: "Bytes",
      is_signed: encoding === "zigzag",
      is_float: encoding === "float64",
    },
    overview: null,
    ...header,
  };
  return payloadOf(
    stated,
    columns.flatMap(([, bytes]) => bytes),
  );
}

export function payloadOf(header, body) {
  const text = new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header));
  const bytes = new Uint8Array(8 + text.length + body.length);
  bytes.set([0x46, 0x47, 0x42, 0x32]);
  new DataView(bytes.buffer).setUint32(4, text.length, true);
  bytes.set(text, 8);
  bytes.set(body, 8 + text.length);
  return bytes.buffer;
}

export const encodeStacks = (valueByStack, options = {}) => encode(columnsOf(valueByStack, options), options.header);

const gcd = (a, b) => (b ? gcd(b, a % b) : Math.abs(a));

function written(values, encoding, unit) {
  if (encoding === "float64") return [...new Uint8Array(Float64Array.from(values).buffer)];
  return varints(
    values.map((value) =>
      encoding === "zigzag" ? (value < 0 ? -2 * (value / unit) - 1 : 2 * (value / unit)) : value / unit,
    ),
  );
}

export function varints(numbers) {
  const bytes = [];
  for (let number of numbers) {
    for (; number > 127; number = Math.floor(number / 128)) bytes.push((number % 128) + 128);
    bytes.push(number);
  }
  return bytes;
}

/** Random stacks with recursion and shared names; the same seed gives the same stacks. */
export function randomStacks(seed, { stacks = 200, depth = 12, names = 20, isSigned = false } = {}) {
  const random = randomNumbers(seed);
  const valueByStack = {};
  for (let i = 0; i < stacks; i++) {
    const length = 1 + Math.floor(random() * depth);
    const stack = Array.from({ length }, () => `f${Math.floor(random() * names)}`).join(";");
    valueByStack[stack] = Math.floor(random() ** 6 * 1e6) * (isSigned && random() < 0.3 ? -1 : 1);
  }
  return valueByStack;
}

export function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}
