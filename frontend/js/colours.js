// The ways to colour a graph, in words.

/** Modes by name as an address has it: the word in the list, and what the legend says. */
export const COLOURS = {
  memory: { title: "memory palette", legend: "greens to blues only tell functions apart", token: "mem", steps: 8 },
  warm: { title: "warm", legend: "reds to yellows only tell functions apart", token: "warm", steps: 8 },
  module: { title: "module", legend: "one colour a module, by its name; two modules may share one", token: "module", steps: 8 },
  age: { title: "age", legend: "the age that half of a frame's bytes have reached", token: "age", steps: 4 },
  change: { title: "change", legend: "", token: "", steps: 0 },
};
