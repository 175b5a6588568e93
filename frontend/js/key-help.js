// The list of keys, as a dialogue that "?" opens.
import { element } from "./dom.js";
import { KEY_HELP } from "./keys.js";

export function bindKeyHelp(dialog) {
  const rows = KEY_HELP.flatMap(([keys, what]) => [element("dt", {}, keys), element("dd", {}, what)]);
  const close = element("button", { type: "button", class: "btn" }, "Close");
  close.addEventListener("click", () => dialog.close());
  dialog.replaceChildren(element("h2", {}, "Keys on the graph"), element("dl", { class: "keys" }, rows), close);
  return { open: () => dialog.showModal() };
}
