// A table of functions: filtered by typing, sorted by its heads, shown a page at a time; rows arrive from the Worker.
import { select } from "../vendor/d3.js";
import { element, setText, svgElement } from "./dom.js";
import { formatCount } from "./format.js";
import { keepingFocus } from "./kept-focus.js";
import { arrangeRows } from "./top-table.js";

const FIRST_ROWS = 12;
const MORE_ROWS = 500;

/**
 * Binds the parts table, filter, count, more and perhaps kept, a choice that `isKept(row)` knows of. `columns` are {key, title, className, sort, cell(row, scale)}: cell gives
 * text or an element. `onRow(name)` is called for a row, `onSort(sort)` for a head; `note` ends the count,
 * and after it that of the scale.
 */
export function bindTable(
  { table, filter, count, more, kept = null },
  { columns, note, sort, isKept = null, onRow, onSort },
) {
  const state = { rows: [], sort, shown: FIRST_ROWS, scale: {}, selected: "", isFilled: false };
  const head = table.tHead ?? table.createTHead();
  const body = table.tBodies[0] ?? table.createTBody();

  function drawHead() {
    const row = element("tr", {}, columns.map(headCell));
    head.replaceChildren(row);
  }

  function headCell({ title, className, sort: key, hidden }) {
    const isSorted = state.sort.replace(/^-/, "") === key && key;
    const label = key ? sortButton(title, key) : hidden ? element("span", { class: "sr" }, title) : title;
    return element(
      "th",
      {
        class: className,
        scope: "col",
        "aria-sort": isSorted ? (state.sort.startsWith("-") ? "descending" : "ascending") : null,
      },
      label,
    );
  }

  function sortButton(title, key) {
    const button = element("button", { type: "button", class: "sort", "data-sort": key }, title);
    button.addEventListener("click", () => {
      const other = state.sort.startsWith("-") ? key : `-${key}`;
      setSort(state.sort.replace(/^-/, "") === key ? other : key === "name" ? key : `-${key}`);
      onSort(state.sort);
    });
    return button;
  }

  function setSort(next) {
    state.sort = next;
    keepingFocus(head, drawHead);
    drawBody();
  }

  function drawBody() {
    if (!state.isFilled) return;
    const matching = arrangeRows(state.rows, { filter: filter.value, sort: state.sort, isKept });
    const shown = matching.slice(0, state.shown);
    select(body)
      .selectAll("tr")
      .data(shown, (row) => row.name)
      .join((enter) => enter.append(newRow))
      .order()
      .classed("sel", (row) => row.name === state.selected)
      .each(fillRow);
    setText(count, countWords(matching.length, shown.length));
    more.hidden = matching.length <= shown.length;
    setText(more, matching.length - shown.length <= MORE_ROWS ? "Show all" : `Show ${MORE_ROWS} more`);
  }

  function newRow(row) {
    const line = element(
      "tr",
      {},
      columns.map(({ className }) => element("td", { class: className })),
    );
    const link = element("button", { type: "button", class: "rowlink", title: row.name }, row.name);
    link.addEventListener("click", () => onRow(row.name));
    line.cells[0].append(link);
    return line;
  }

  function fillRow(row) {
    columns.forEach(({ cell }, i) => {
      if (cell) this.cells[i].replaceChildren(cell(row, state.scale));
    });
  }

  function countWords(matching, shown) {
    if (!state.rows.length) return "";
    if (!matching) return `None of ${formatCount(state.rows.length)} functions is like that.`;
    const of = matching === state.rows.length ? "" : ` that match, of ${formatCount(state.rows.length)}`;
    return `1–${formatCount(shown)} of ${formatCount(matching)} functions${of}. ${[note, state.scale.note].filter(Boolean).join(" ")}`;
  }

  filter.addEventListener("input", drawBody);
  kept?.addEventListener("change", drawBody);
  more.addEventListener("click", () => {
    state.shown += MORE_ROWS;
    drawBody();
  });
  // The rows that the page came with stay until the first of the Worker, unless the fragment names others.
  if (location.hash) body.replaceChildren();
  drawHead();
  return {
    setSort,
    sort: () => state.sort,
    show(rows, scale) {
      if (!state.isFilled) body.replaceChildren();
      Object.assign(state, { rows, scale, isFilled: true });
      table.dataset.rows = rows.length;
      drawBody();
    },
    select(name) {
      if (state.selected === name) return;
      state.selected = name;
      select(body)
        .selectAll("tr")
        .classed("sel", (row) => row.name === name);
    },
  };
}

/** A bar of a share from 0 to 1. */
export function shareBar(share) {
  const width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return svgElement(
    "svg",
    { class: "hbar", "aria-hidden": "true" },
    svgElement("rect", { class: "bg", width: "100%", height: 8 }),
    svgElement("rect", { width, height: 8 }),
  );
}

/** A bar from the centre line: to the right what grew, to the left what shrank; the share is from -1 to 1. */
export function changeBar(share) {
  const half = Math.min(1, Math.abs(share)) * 50;
  return svgElement(
    "svg",
    { class: "hbar", "aria-hidden": "true" },
    svgElement("rect", { class: "bg", width: "100%", height: 8 }),
    svgElement("rect", {
      class: share < 0 ? "down" : "up",
      x: `${share < 0 ? 50 - half : 50}%`,
      width: `${half}%`,
      height: 8,
    }),
    svgElement("line", { x1: "50%", x2: "50%", y1: 0, y2: 8 }),
  );
}
