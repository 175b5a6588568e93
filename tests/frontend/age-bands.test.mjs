import assert from "node:assert/strict";
import test from "node:test";
import { meaningAmong, splitByAge, titleAmong } from "../../frontend/js/age-bands.js";

const typesOf = (...names) => names.map((name) => ({ name, unit: "bytes", kind: "level" }));
const bands = (...names) => names.map((name) => `outstanding_bytes.${name}`);
const labels = (...names) =>
  splitByAge(typesOf("outstanding_bytes", ...bands(...names))).bands.map(({ label }) => label.replaceAll("\u00a0", " "));

test("bands are told by what lies between their bounds", () => {
  assert.deepEqual(labels("lt10s", "lt1m", "lt10m", "older"), [
    "under 10 s",
    "10 s to 1 min",
    "1 to 10 min",
    "10 min and older",
  ]);
  assert.deepEqual(labels("lt30s", "lt5m", "lt2h", "older"), ["under 30 s", "30 s to 5 min", "5 min to 2 h", "2 h and older"]);
});

test("a band that has no neighbour does not claim a bound", () => {
  assert.deepEqual(labels("older"), ["of any age"]);
});

test("bands stand apart from the types, in their order", () => {
  const types = typesOf("outstanding_bytes", "outstanding_objects", ...bands("lt1m", "older"));

  const split = splitByAge(types);

  assert.deepEqual(split.whole, types.slice(0, 2));
  assert.deepEqual(
    split.bands.map(({ type }) => type),
    types.slice(2),
  );
  assert.equal(split.of, "Outstanding bytes");
});

test("a name with a point is no band unless the rest is a type too", () => {
  const types = typesOf("syscalls:sys_enter_mmap.bytes", "syscalls:sys_enter_mmap.calls", "heap.older", "a.lt5");

  assert.deepEqual(splitByAge(types), { whole: types, bands: [], of: "", split: null });
});

test("the title of a band has its age, others are their name", () => {
  const types = typesOf("outstanding_bytes", "allocated_bytes", ...bands("lt10s", "older"));

  assert.equal(titleAmong(types[0], types), "Outstanding bytes");
  assert.equal(titleAmong(types[3], types), "Outstanding bytes, 10\u00a0s and older");
});

test("the meaning of a band has both its bounds, that of another type is its own", () => {
  const types = typesOf("outstanding_bytes", ...bands("lt10s", "lt1m", "older")).map((type) => ({ ...type, meaning: "M" }));

  assert.deepEqual(
    types.map((type) => meaningAmong(type, types).replaceAll("\u00a0", " ")),
    [
      "M",
      "Bytes allocated less than 10 s before the snapshot and not freed yet",
      "Bytes allocated 10 s to 1 min before the snapshot and not freed yet",
      "Bytes allocated 1 min or longer before the snapshot and not freed yet",
    ],
  );
  assert.equal(meaningAmong(types[3], [types[0], types[3]]), "M");
});

test("a band of estimates says so", () => {
  const meaning = "Bytes allocated less than 1 min before the snapshot and not freed yet, estimated from samples every 512 kB";
  const types = typesOf("outstanding_bytes", ...bands("lt1m", "older")).map((type) => ({ ...type, meaning }));

  assert.match(meaningAmong(types[2], types), /^Bytes allocated 1.min or longer before .* estimated from samples every 512 kB$/);
});
