import assert from "node:assert/strict";
import test from "node:test";
import { PayloadError, decode } from "../../frontend/js/fgb2.js";
import { columnsOf, encode, encodeStacks, payloadOf, randomStacks, varints } from "./encode.mjs";

const refuses = (buffer, why) =>
  assert.throws(
    () => decode(buffer),
    (error) => error instanceof PayloadError && why.test(error.message),
  );
const plain = (over = {}) => ({
  v: 2,
  n: 1,
  sections: [
    ["nch", 1],
    ["name", 1],
    ["self", 1],
    ["strings", 1],
  ],
  encoding: "uvarint",
  unit: 1,
  ...over,
});

test("columns come out as they went in", () => {
  for (const seed of [1, 2, 3]) {
    const columns = columnsOf(randomStacks(seed));

    const decoded = decode(encode(columns));

    assert.deepEqual([...decoded.childCounts], columns.nch);
    assert.deepEqual([...decoded.names], columns.name);
    assert.deepEqual([...decoded.self], columns.self);
    assert.deepEqual(decoded.strings, columns.strings);
  }
});

test("negative numbers, fractions and two sides come out as they went in", () => {
  const signed = decode(encodeStacks({ "a;b": -4096, a: 12288 }));
  const fractions = decode(encodeStacks({ a: 0.5, b: -1.25 }));
  const diff = decode(encodeStacks({ a: [10, 0], b: [0, 7] }, { isDiff: true }));

  assert.deepEqual([...signed.self], [0, 12288, -4096]);
  assert.deepEqual([...fractions.self].sort(), [-1.25, 0, 0.5].sort());
  assert.deepEqual(
    [[...diff.self], [...diff.self2]],
    [
      [0, 10, 0],
      [0, 0, 7],
    ],
  );
});

test("values above 2^32 are exact", () => {
  const tebibyte = 2 ** 40;

  assert.equal(decode(encodeStacks({ a: tebibyte + 1, b: 1 })).self[1], tebibyte + 1);
});

test("names with control characters, markup, right-to-left marks and emoji arrive as text", () => {
  const names = [
    "<script>alert(1)</script>",
    "a&b\"'",
    "line\u2028break",
    "\u202eright to left",
    "🔥🔥",
    "x".repeat(10_000),
  ];

  const decoded = decode(encodeStacks(Object.fromEntries(names.map((name, i) => [name, names.length - i]))));

  assert.deepEqual(decoded.strings, names);
});

test("what is no payload of ours is refused in words", () => {
  refuses(new ArrayBuffer(0), /no graph/);
  refuses(new TextEncoder().encode("FGB1 and so on").buffer, /no graph/);
  refuses(payloadOf("{", []), /not JSON/);
  refuses(payloadOf("[]", []), /no sections/);
});

test("another version asks to reload instead of showing wrong numbers", () => {
  refuses(payloadOf(plain({ v: 3 }), [0, 0, 5, 97]), /version 3.*Reload/);
});

test("lengths that do not add up are refused", () => {
  refuses(payloadOf(plain(), [0, 0, 5]), /cut in its section strings/);
  refuses(payloadOf(plain(), [0, 0, 5, 97, 98]), /1 bytes more/);
  refuses(
    payloadOf(
      plain({
        sections: [
          ["nch", 1],
          ["name", 1],
          ["self", 1],
        ],
      }),
      [0, 0, 5],
    ),
    /no section strings/,
  );
  refuses(payloadOf(plain({ sections: [["nch", -1]] }), [0]), /cut in its section nch/);
  refuses(payloadOf(plain({ n: 2 }), [1, 0, 5, 97]), /too short/);
  refuses(payloadOf(plain({ n: 4e15 }), [1, 0, 5, 97]), /too short/);
  refuses(payloadOf(plain({ n: 0 }), [1, 0, 5, 97]), /0 frames/);
});

test("a header longer than the payload is refused", () => {
  const buffer = payloadOf(plain(), [0, 0, 5, 97]);
  new DataView(buffer).setUint32(4, 1_000_000, true);

  refuses(buffer, /header has 1000000 bytes/);
});

test("child counts must add up and name a parent for each frame", () => {
  const body = (nch) => [...nch, ...nch.map(() => 0), ...nch.map(() => 1), 97];
  const header = (n) =>
    plain({
      n,
      sections: [
        ["nch", n],
        ["name", n],
        ["self", n],
        ["strings", 1],
      ],
    });

  refuses(payloadOf(header(3), body([1, 0, 1])), /Frame 2 of the graph has no parent/);
  refuses(payloadOf(header(3), body([2, 1, 0])), /add up to 4/);
});

test("a name that is not there is refused", () => {
  refuses(
    payloadOf(
      plain({
        n: 2,
        sections: [
          ["nch", 2],
          ["name", 2],
          ["self", 2],
          ["strings", 1],
        ],
      }),
      [1, 0, 0, 1, 0, 5, 97],
    ),
    /name 1, there are 1 names/,
  );
});

test("a number above 2^53 is refused with a word", () => {
  const big = varints([2 ** 53]);

  refuses(
    payloadOf(
      plain({
        sections: [
          ["nch", 1],
          ["name", 1],
          ["self", big.length],
          ["strings", 1],
        ],
      }),
      [0, 0, ...big, 97],
    ),
    /larger than 2\^53/,
  );
});

test("a column that ends inside a number is refused", () => {
  refuses(payloadOf(plain(), [0, 0, 128, 97]), /section self has 1 bytes, its numbers take 2/);
});

test("an encoding of a later time is refused", () => {
  refuses(payloadOf(plain({ encoding: "delta" }), [0, 0, 5, 97]), /written as delta/);
});
