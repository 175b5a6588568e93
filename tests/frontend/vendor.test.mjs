import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import test from "node:test";

const folder = new URL("../../frontend/vendor/", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL("manifest.json", folder), "utf8"));

test("each vendored file is byte for byte the one that the manifest names", () => {
  const sums = manifest.files.map(({ file }) => {
    return createHash("sha256")
      .update(readFileSync(new URL(file, folder)))
      .digest("hex");
  });

  assert.deepEqual(
    sums,
    manifest.files.map(({ sha256 }) => sha256),
  );
});

test("each script in the folder is in the manifest", () => {
  const scripts = readdirSync(folder).filter((name) => name.endsWith(".js"));

  assert.deepEqual(scripts.sort(), manifest.files.map(({ file }) => file).sort());
});

test("each package in a vendored file has a version, a licence and its text", () => {
  const packages = manifest.files.flatMap((entry) => entry.packages);

  assert.ok(packages.length > 10);
  for (const { name, version, licence } of packages) {
    assert.match(version, /^\d+\.\d+\.\d+$/, name);
    assert.ok(licence, name);
    assert.ok(existsSync(new URL(`licences/${name}.txt`, folder)), name);
  }
});

test("the lock file names no address, so that any registry will do", () => {
  const lock = readFileSync(new URL("package-lock.json", folder), "utf8");

  assert.ok(!lock.includes('"resolved"'));
});
