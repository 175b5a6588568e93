// What can be done with the selected frame: the entries of its menu, each with its key.
import { moduleOf, NO_MODULE } from "./module-names.js";

/**
 * Entries {id, key, words, step} or {…, view} for a frame {name, path, isRoot, isInverted, view, transforms}: `step` is a
 * transform to add, `view` another view to show. What would do nothing is left out.
 */
export function actionsFor(frame) {
  const { name, path, isRoot, isInverted, view, transforms } = frame;
  const module = moduleOf(name);
  const hasStep = (kind) => transforms.some((each) => each.kind === kind);
  const entries = [
    isRoot ? null : { id: "sandwich", key: "s", words: "All callers and callees", view: { view: "sandwich", fn: name } },
    isRoot || isInverted || view === "sandwich" ? null : { id: "focus", key: "f", words: "Only this frame and below", step: { kind: "focus", path } },
    isRoot ? null : { id: "focus-function", key: "F", words: "Only this function, wherever it is called", step: { kind: "focus-function", name } },
    isRoot ? null : { id: "hide-function", key: "h", words: "Count the function as its callers'", step: { kind: "hide-function", name } },
    isRoot || module === NO_MODULE ? null : { id: "hide-module", key: "H", words: `Count module ${module} as its callers'`, step: { kind: "hide-module", name: module } },
    isRoot ? null : { id: "leave-out", key: "x", words: "Leave out stacks through the function", step: { kind: "leave-out", name } },
    hasStep("recursion") ? null : { id: "recursion", key: "r", words: "Collapse recursion everywhere", step: { kind: "recursion" } },
    hasStep("modules") ? null : { id: "modules", key: "m", words: "Merge functions by module", step: { kind: "modules" } },
  ];
  return entries.filter(Boolean);
}

/** Binds the actions: `change(next)` shows another view, `add(step)` adds a step. */
export function bindFrameActions({ change, add }) {
  function run(id, frame) {
    const entry = actionsFor(frame).find((each) => each.id === id);
    if (entry?.view) change(entry.view);
    else if (entry) add(entry.step);
  }
  return { run, of: (frame) => actionsFor(frame).map((entry) => ({ ...entry, act: () => run(entry.id, frame) })) };
}
