// The search box of a graph: what was typed, the matches found by the Worker, and going from one to the next.
import { part, setText } from "./dom.js";
import { formatChange, formatPercent, formatPlural, formatValue } from "./format.js";
import { compilePattern, matchNodes, neighbourMatch } from "./search.js";
import { TooSlow } from "./worker-client.js";

/**
 * Binds the parts input, matched, hint, previous, next, keep and legend (of matches). `graph` is shown the matches, and so are `others()`; `match(text)` asks the Worker,
 * `unit()` is that of the numbers; `onChange` is called when another text was typed.
 */
export function bindSearch(
  { input, matched, hint, previous, next, keep, legend },
  { graph, others, match, unit, onChange },
) {
  let latest = 0;

  async function run() {
    const text = input.value;
    const round = ++latest;
    const { regex, hint: words } = compilePattern(text);
    say(words);
    if (!regex || !graph.state.tree) return clear();
    try {
      const answer = await match(text);
      if (round === latest) found(answer);
    } catch (error) {
      if (round === latest) say(error instanceof TooSlow ? error.message : `not searched: ${error.message}`);
    }
  }

  function say(words) {
    setText(hint, words);
    hint.hidden = !words;
    if (words) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }

  function clear() {
    for (const each of [graph, ...others()]) each.setFound(null);
    setText(matched, "");
    legend.hidden = true;
    previous.disabled = next.disabled = keep.disabled = true;
  }

  function found({ hits, inWhole }) {
    for (const other of others()) other.setFound(matchNodes(other.state.tree, hits));
    const matches = matchNodes(graph.state.tree, hits);
    graph.setFound(matches);
    legend.hidden = false;
    setText(matched, describe(graph.state.tree, matches, unit()) + hiddenMatches(matches, inWhole, unit()));
    previous.disabled = next.disabled = keep.disabled = matches.frames === 0;
  }

  function step(direction) {
    const { tree, found: matches, selected } = graph.state;
    const node = neighbourMatch(tree, matches, selected, direction);
    if (node < 0) return;
    graph.select(node);
    graph.reveal(node);
  }

  input.addEventListener("input", () => (onChange(), run()));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") (event.preventDefault(), step(event.shiftKey ? -1 : 1));
    if (event.key === "Escape" && input.value === "") graph.focusKeys();
  });
  previous.addEventListener("click", () => step(-1));
  next.addEventListener("click", () => step(1));
  clear();
  return {
    run,
    step,
    text: () => input.value,
    focus: () => input.focus(),
    setText(text) {
      input.value = text;
    },
  };
}

function describe(tree, { total, total2, width, frames }, unit) {
  const count = formatPlural(frames, "frame", "frames");
  if (frames === 0) return "no frame matches";
  if (tree.total2)
    return `matched ${formatValue(total, unit)} → ${formatValue(total2, unit)}, ${formatChange(total2 - total, unit)}, ${count}`;
  return `matched ${formatValue(total, unit)}, ${formatPercent(tree.width[0] ? width / tree.width[0] : 0)}, ${count}`;
}

// A match in what was collapsed, folded or left out is no frame of the picture, but it is counted.
function hiddenMatches({ frames }, inWhole, unit) {
  if (!inWhole || inWhole.frames <= frames) return "";
  const where = inWhole.isStepped ? "before the steps" : "with allocator frames";
  return `; ${where} ${formatValue(inWhole.total, unit)}, ${formatPlural(inWhole.frames, "frame", "frames")}`;
}

/** The parts of a page that bindSearch takes. */
export function searchParts(root) {
  const named = ["matched", "hint", "previous", "next", "keep"].map((name) => [name, part(root, name)]);
  return { ...Object.fromEntries(named), input: part(root, "search"), legend: part(root, "legend-match") };
}
