// Builds d3.js and htmx.js out of the packages pinned in package-lock.json, and writes what they are to manifest.json.
// Run `node vendor.mjs` after changing a version; the results are committed, so neither the site nor a test fetches anything.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

// One file instead of a file per module: at 1,000 frames loading modules is what costs.
const D3_EXPORTS = {
  "d3-ease": ["easeCubicOut"],
  "d3-format": ["format"],
  "d3-interpolate": ["interpolateNumber"],
  "d3-scale": ["scaleLinear"],
  "d3-selection": ["pointer", "select", "selectAll"],
  "d3-timer": ["timer"],
  "d3-zoom": ["zoom", "zoomIdentity"],
};

const work = install();
try {
  mkdirSync(join(here, "licences"), { recursive: true });
  const files = [await buildD3(), copyHtmx()];
  writeFileSync(join(here, "manifest.json"), JSON.stringify({ files }, null, 2) + "\n");
} finally {
  rmSync(work, { recursive: true });
}

function install() {
  const folder = mkdtempSync(join(tmpdir(), "memflame-vendor-"));
  for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(here, name), join(folder, name));
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder, stdio: "inherit" });
  return folder;
}

async function buildD3() {
  const { build } = createRequire(join(work, "package.json"))("esbuild");
  const entry = Object.entries(D3_EXPORTS).map(([name, exports]) => `export { ${exports.join(", ")} } from "${name}";`);
  const result = await build({
    stdin: { contents: entry.join("\n"), resolveDir: work },
    bundle: true,
    minify: true,
    format: "esm",
    legalComments: "none",
    write: false,
    metafile: true,
  });
  const packages = packagesOf(Object.keys(result.metafile.inputs));
  const names = packages.map(({ name, version }) => `${name} ${version}`).join(", ");
  return written("d3.js", `/* ${names}; licences/ has their terms */\n${result.outputFiles[0].text}`, packages);
}

function copyHtmx() {
  const text = readFileSync(join(work, "node_modules/htmx.org/dist/htmx.min.js"), "utf8");
  return written("htmx.js", text, [described("htmx.org")]);
}

function packagesOf(inputs) {
  const names = inputs.flatMap((path) => path.match(/^(?:.*\/)?node_modules\/([^/]+)\//)?.[1] ?? []);
  return [...new Set(names)].sort().map(described);
}

function described(name) {
  const folder = join(work, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const text = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
  copyFileSync(join(folder, text), join(here, "licences", `${name}.txt`));
  return { name, version, licence: license };
}

function written(file, text, packages) {
  writeFileSync(join(here, file), text);
  return { file, sha256: createHash("sha256").update(text).digest("hex"), packages };
}
