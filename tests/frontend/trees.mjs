// Trees for tests, from stacks by way of the real decoder.
import { decode } from "../../frontend/js/fgb2.js";
import { layoutTree } from "../../frontend/js/layout.js";
import { encodeStacks } from "./encode.mjs";

export const treeOf = (valueByStack, options) => layoutTree(decode(encodeStacks(valueByStack, options)));
export const diffOf = (valueByStack) => treeOf(valueByStack, { isDiff: true });

/** Node at a path like "a;b". */
export function nodeOf(tree, stack) {
  let node = 0;
  for (const name of stack.split(";")) {
    let child = tree.firstChild[node];
    while (tree.strings[tree.names[child]] !== name) child++;
    node = child;
  }
  return node;
}
