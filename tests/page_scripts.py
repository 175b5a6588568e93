"""Scripts by which tests look into the page of a graph: what is drawn, where it is, and when it was seen."""

from __future__ import annotations

CANVASES = """() => [...document.querySelectorAll("canvas")].filter((each) => each.checkVisibility()).map((canvas) => {
  const { width, height } = canvas.getBoundingClientRect();
  return [canvas.width / devicePixelRatio - width, canvas.height / devicePixelRatio - height, width, height];
})"""
# The fragment of an address is another one; resolves when the page has heard of it.
GO = """fragment => new Promise((done) => {
  if (location.hash === fragment) return done();
  addEventListener("popstate", () => setTimeout(done), { once: true });
  location.hash = fragment;
})"""
# Where the next frame of a path is that can be aimed at, wider than two pixels: scrolled to, in the window.
NEXT = """path => {
  const { names, strings, firstChild, x0, width } = memflame.tree();
  const nodes = [0];
  for (const name of path) {
    let child = firstChild[nodes.at(-1)];
    while (strings[names[child]] !== name) child++;
    nodes.push(child);
  }
  const zoomed = document.querySelector("#graph").dataset.zoomPath.split(";").filter(Boolean).length;
  const [from, to] = decodeURIComponent(location.hash).match(/&x=([^&]+)/)?.[1].split("-").map(Number) ?? [0, 1];
  const [left, all] = [x0[nodes[zoomed]] + from * width[nodes[zoomed]], (to - from) * width[nodes[zoomed]]];
  const box = document.querySelector("#graph-tree");
  const pixels = (value) => (value / all) * box.clientWidth;
  let row = nodes.length - 1;
  while (row > zoomed && pixels(width[nodes[row]]) < 2) row--;
  const isWide = row > zoomed;
  const aim = isWide ? nodes[row] : nodes.at(-1);
  box.scrollTop = row * 20 - box.clientHeight / 2;
  const edge = box.getBoundingClientRect();
  // Of the pointer of a wheel browsers tell whole pixels only.
  const x = Math.round(edge.left + pixels(x0[aim] + width[aim] / 2 - left));
  return { isThere: zoomed === path.length, isWide, x, y: edge.top + row * 20 + 10 - box.scrollTop };
}"""
# Looks on for longer than a zoom takes.
LOOK = """() => new Promise((done) => {
  const begin = performance.now();
  const look = () => (performance.now() - begin > 400 ? done() : requestAnimationFrame(look));
  look();
})"""
PICKS = """() => {
  const box = document.querySelector("#graph .graph-screen").getBoundingClientRect();
  const points = Array.from({ length: 2000 }, (_, i) => [(i * 37) % box.width, (i * 53) % box.height]);
  const begin = performance.now();
  const found = points.filter(([x, y]) => memflame.frameAt(box.left + x, box.top + y) >= 0);
  return [(performance.now() - begin) / points.length, found.length];
}"""
# What was drawn when a mark was set: how many frames the tree has, and how many the browser had since its first
# drawing, or since that of the overview, which may be replaced before its mark.
WATCH = """
const seen = { now: 0, count: 0, drawn: {} };
const nodes = () => document.querySelector("#graph").dataset.nodes;
const { requestAnimationFrame: ask, performance } = window;
window.requestAnimationFrame = (act) => ask.call(window, (now) => {
  if (now !== seen.now) Object.assign(seen, { now, count: seen.count + 1 });
  act(now);
});
const { fillText } = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.fillText = function (...all) {
  seen.first ??= seen.count;
  seen.drawn[nodes()] ??= seen.count;
  fillText.apply(this, all);
};
const { mark } = Performance.prototype;
Performance.prototype.mark = function (name, ...rest) {
  const drawn = name === "viewer-overview" ? seen.first : seen.drawn[nodes()];
  return mark.call(this, name, { detail: [Number(nodes()), seen.count - drawn] }, ...rest);
};
"""
MARKS = """() => Object.fromEntries(performance.getEntriesByType("mark").map(({ name, detail }) => [name, detail]))"""
FIRST = "name => performance.getEntriesByName(name)[0]?.startTime ?? null"
ROOTS = """() => {
  const { firstChild, names, strings, total } = memflame.tree();
  const held = {};
  for (let i = firstChild[0]; i < firstChild[1]; i++) held[strings[names[i]]] = total[i];
  return held;
}"""
COUNT = """name => {
  const { names, strings } = memflame.tree();
  const id = strings.indexOf(name);
  return names.slice(1).reduce((count, each) => count + (each === id), 0);
}"""
