// The graph as a table of indented lines, for screen readers and for copying.
import { copyOnClick } from "./copy.js";
import { element } from "./dom.js";
import { leftOutWords, listRows, listText, rowWords, titlesOf } from "./text-list.js";

const INDENT_PX = 12;
const DEEPEST = 40; // steps to the right; deeper frames say their depth

/** Fills `host` with what is below `focus`; `select(node)` is called for a row. */
export function showList(host, { tree, focus, unit, selected }, { select }) {
  const list = listRows(tree, focus);
  const copy = element("button", { type: "button", class: "btn plain", "data-part": "copy-list" }, "Copy as text");
  copyOnClick(copy, () => listText(tree, list, unit));
  const head = element("tr", {}, [
    ...titlesOf(tree).map((title) => element("th", { class: "n", scope: "col" }, title)),
    element("th", { class: "fn", scope: "col" }, "Frame"),
  ]);
  const rows = list.rows.map((row) => line(tree, row, unit, row.node === selected, select));
  host.replaceChildren(
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Frames as a list" },
      element("table", { class: "list" }, element("thead", {}, head), element("tbody", {}, rows)),
    ),
    element("p", { class: "small ink2" }, list.leftOut ? leftOutWords(list.leftOut) : "Nothing is hidden.", " ", copy),
  );
}

function line(tree, row, unit, isSelected, select) {
  const { amounts, name } = rowWords(tree, row, unit);
  const link = element("button", { type: "button", class: "rowlink", title: name, "data-node": row.node }, name);
  link.addEventListener("click", () => select(row.node));
  const cell = element("td", { class: "fn" }, element("span", { class: "sr" }, `level ${row.depth}: `), link);
  cell.style.paddingLeft = `${INDENT_PX * Math.min(row.depth, DEEPEST)}px`;
  return element(
    "tr",
    { class: isSelected ? "sel" : null },
    amounts.map((text) => element("td", { class: "n" }, text)),
    cell,
  );
}
