// Turns an FGB2 payload (docs/formats.md) into columns in level order, after checking every length that it states.

const MAGIC = [0x46, 0x47, 0x42, 0x32]; // "FGB2"
const VERSION = 2;
const COLUMNS = ["nch", "name", "self", "self2"];

/** What is wrong with a payload, in words for the page. */
export class PayloadError extends Error {
  name = "PayloadError";
}

/** Columns of a call tree: `childCounts`, `names` (ids into `strings`), `self` and, for a difference, `self2`. */
export function decode(buffer) {
  const bytes = new Uint8Array(buffer);
  const { header, start } = readHeader(bytes);
  const sections = locate(header, start, bytes.length);
  const n = checkedCount(header, sections);
  const childCounts = readUnsigned(sectionOf(bytes, sections, "nch"), new Uint32Array(n), "nch");
  checkLevelOrder(childCounts, n);
  const strings = new TextDecoder().decode(sectionOf(bytes, sections, "strings")).split("\0");
  const names = readUnsigned(sectionOf(bytes, sections, "name"), new Uint32Array(n), "name");
  checkNames(names, strings.length);
  const self = readValues(header, sectionOf(bytes, sections, "self"), n);
  const self2 = sections.has("self2") ? readValues(header, sectionOf(bytes, sections, "self2"), n) : null;
  return { header, n, childCounts, names, self, self2, strings };
}

function readHeader(bytes) {
  if (bytes.length < 8 || MAGIC.some((byte, i) => bytes[i] !== byte))
    throw new PayloadError("This is no graph: its first bytes are not FGB2.");
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
  if (8 + length > bytes.length)
    throw new PayloadError(`The graph is cut: its header has ${length} bytes, ${bytes.length - 8} came.`);
  const header = parsedHeader(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  if (header.v !== VERSION)
    throw new PayloadError(`The graph has version ${header.v}, this page reads ${VERSION}. Reload the page.`);
  return { header, start: 8 + length };
}

function parsedHeader(text) {
  let header;
  try {
    header = JSON.parse(text);
  } catch {
    throw new PayloadError("The graph's header is not JSON.");
  }
  if (header === null || typeof header !== "object" || !Array.isArray(header.sections))
    throw new PayloadError("The graph's header names no sections.");
  return header;
}

function locate(header, start, end) {
  const sections = new Map();
  let at = start;
  for (const [name, length] of header.sections) {
    if (!Number.isSafeInteger(length) || length < 0 || at + length > end)
      throw new PayloadError(`The graph is cut in its section ${name}.`);
    sections.set(name, [at, at + length]);
    at += length;
  }
  if (at !== end) throw new PayloadError(`The graph has ${end - at} bytes more than its header names.`);
  for (const name of ["nch", "name", "self", "strings"])
    if (!sections.has(name)) throw new PayloadError(`The graph has no section ${name}.`);
  return sections;
}

// A node takes at least a byte in each column, so a false count can't make us allocate more than what came.
function checkedCount({ n }, sections) {
  if (!Number.isSafeInteger(n) || n < 1) throw new PayloadError(`The graph says that it has ${n} frames.`);
  for (const name of COLUMNS) {
    const bounds = sections.get(name);
    if (bounds && bounds[1] - bounds[0] < n)
      throw new PayloadError(`The graph names ${n} frames, its section ${name} is too short for them.`);
  }
  return n;
}

const sectionOf = (bytes, sections, name) => bytes.subarray(...sections.get(name));

function readUnsigned(bytes, out, section) {
  let at = 0;
  for (let i = 0; i < out.length; i++) {
    let byte = bytes[at++];
    let value = byte & 127;
    for (let scale = 128; byte > 127; scale *= 128) {
      byte = bytes[at++];
      value += (byte & 127) * scale;
    }
    if (value > Number.MAX_SAFE_INTEGER)
      throw new PayloadError(
        `A number in the section ${section} is larger than 2^53, which a browser can't hold exactly.`,
      );
    out[i] = value;
  }
  if (at !== bytes.length)
    throw new PayloadError(`The section ${section} has ${bytes.length} bytes, its numbers take ${at}.`);
  return out;
}

function readValues({ encoding, unit = 1 }, bytes, n) {
  if (encoding === "float64") return readFloats(bytes, n);
  const out = readUnsigned(bytes, new Float64Array(n), "self");
  if (encoding === "zigzag") for (let i = 0; i < n; i++) out[i] = out[i] % 2 === 0 ? out[i] / 2 : -(out[i] + 1) / 2;
  else if (encoding !== "uvarint")
    throw new PayloadError(
      `The graph's numbers are written as ${encoding}, which this page can't read. Reload the page.`,
    );
  if (unit !== 1) for (let i = 0; i < n; i++) out[i] *= unit;
  return out;
}

function readFloats(bytes, n) {
  if (bytes.length !== 8 * n)
    throw new PayloadError(`The section self has ${bytes.length} bytes, ${n} numbers take ${8 * n}.`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const out = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    out[i] = view.getFloat64(8 * i, true);
    if (!Number.isFinite(out[i])) throw new PayloadError(`The value of frame ${i} is ${out[i]}.`);
  }
  return out;
}

// In level order a parent stands before its children: at no node may the children seen so far have run out.
function checkLevelOrder(childCounts, n) {
  let seen = 1;
  for (let i = 0; i < n; i++) {
    if (seen <= i) throw new PayloadError(`Frame ${i} of the graph has no parent.`);
    seen += childCounts[i];
  }
  if (seen !== n) throw new PayloadError(`The graph has ${n} frames, its child counts add up to ${seen}.`);
}

function checkNames(names, count) {
  for (let i = 1; i < names.length; i++) {
    if (names[i] >= count) throw new PayloadError(`Frame ${i} has name ${names[i]}, there are ${count} names.`);
  }
}
