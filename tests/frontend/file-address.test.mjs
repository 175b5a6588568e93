import assert from "node:assert/strict";
import test from "node:test";
import { fileAddress } from "../../frontend/js/file-address.js";

const OF_RUN = "/runs/r-1/export/{seq}/{form}";
const OF_DIFFERENCE = "/compare/r-1/r-2@3/export/{form}";

test("a file of a run is of the snapshot, the value type and the way round that are shown", () => {
  const shown = { seq: 7, value_type: "sys:mmap.bytes/a&b", view: "flame" };

  assert.equal(
    fileAddress(OF_RUN, "svg", shown),
    "/runs/r-1/export/7/svg?value_type=sys%3Ammap.bytes%2Fa%26b&view=flame",
  );
});

test("a file is of the interval that is shown", () => {
  const address = fileAddress(OF_RUN, "folded", { seq: 7, since: 3, value_type: "allocated_bytes", view: "icicle" });

  assert.equal(address, "/runs/r-1/export/7/folded?value_type=allocated_bytes&from=3&view=icicle");
  assert.doesNotMatch(fileAddress(OF_RUN, "csv", { seq: 7, since: 0, value_type: "x", view: "" }), /from/);
});

test("a file has no other views than the two ways round", () => {
  for (const view of ["bottom-up", "sandwich", "list", "icicle"])
    assert.match(fileAddress(OF_RUN, "svg", { seq: 1, value_type: "x", view }), /view=icicle$/);
});

test("a file of a difference has the rules of its page, whatever signs a pattern has", () => {
  const rules = "hashes;~^v%5Cd+_~a%26b=c";
  const address = fileAddress(OF_DIFFERENCE, "folded", { value_type: "bytes", view: "icicle", rules, width: "after" });

  const url = new URL(address, "http://site");
  assert.equal(url.pathname, "/compare/r-1/r-2@3/export/folded");
  assert.equal(url.searchParams.get("rules"), rules);
  assert.equal(url.searchParams.get("width_by"), "after");
});

test("values before are scaled where that is asked for", () => {
  const shown = { value_type: "x", view: "icicle" };

  assert.match(fileAddress(OF_DIFFERENCE, "csv", { ...shown, isNormalized: true }), /&normalize=1$/);
  assert.doesNotMatch(fileAddress(OF_DIFFERENCE, "csv", { ...shown, isNormalized: false }), /normalize/);
});

test("a width that no file has is left out", () => {
  assert.doesNotMatch(fileAddress(OF_DIFFERENCE, "svg", { value_type: "x", view: "", width: "change" }), /width_by/);
});
