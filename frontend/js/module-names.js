// The module that a function belongs to, read from its name: library, namespace, package or file.

/** What stands for functions whose name tells no module, as those of C. */
export const NO_MODULE = "[no module in the name]";

const RULES = [
  [/^(.+)\+0x[0-9a-f]+$/i, 1], // not resolved: library+offset
  [/_\[k\]$|\[kernel(?:\.kallsyms)?\]/, "[kernel]"],
  [/^\[(?!unknown)([^\]]+\.so[\d.]*|[^\]]+\.dll)\]$/, 1],
  [/\(([^()]+\.(?:py|rb|js|mjs|ts|php|lua)):\d+(?::\d+)?\)$/, 1], // name (file:line)
  [/^([^\s:]+\.(?:py|rb|php|lua)):/, 1], // file:name
  [/^L?((?:[\w$]+\/)+)[\w$]+;?::/, javaPackage],
  [/^((?:[\w.-]+\.[a-z]{2,}\/)[\w./~-]*[\w~-])\./, 1], // Go with a host: github.com/a/b.F
];

/** Module of a function's name; NO_MODULE where it tells none. */
export function moduleOf(name) {
  for (const [rule, answer] of RULES) {
    const found = name.match(rule);
    if (found) return typeof answer === "function" ? answer(found) : typeof answer === "number" ? found[answer] : answer;
  }
  return namespaceOf(name) ?? packageOf(name) ?? NO_MODULE;
}

function javaPackage([, path]) {
  return path.replace(/\/$/, "").replaceAll("/", ".");
}

// The first part of a::b::c, looking into <a::T as b::U>::c and behind a return type, but not into arguments.
function namespaceOf(name) {
  const opened = name.replace(/^(?:_?<)+&?(?:mut |dyn )*/, "");
  const [, first] = opened.match(/^([\w$~]+|\(anonymous namespace\)|\{[^}]*\})(?:<[^(]*?>)?::/) ?? [];
  if (first) return first;
  const behindType = opened.match(/^[\w:<>,*& ]*? ([\w$]+)(?:<[^(]*?>)?::/);
  return behindType && !opened.slice(0, behindType.index + behindType[0].length).includes("(") ? behindType[1] : null;
}

// com.shop.Cart.add is of com.shop, runtime.mallocgc of runtime.
function packageOf(name) {
  const [path] = name.match(/^[\w$]+(?:\.[\w$<>]+)+(?=\(|$)/) ?? [];
  if (!path) return null;
  const parts = path.split(".");
  const type = parts.findIndex((part) => /^[A-Z]/.test(part));
  return type > 0 ? parts.slice(0, type).join(".") : parts.slice(0, -1).join(".");
}
