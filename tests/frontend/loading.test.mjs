import assert from "node:assert/strict";
import test from "node:test";
import { bindLoading } from "../../frontend/js/loading.js";

const PLAIN = { view: "icicle", fn: "", transforms: [], keepsAllocators: true, path: [] };
const turn = () => new Promise((resolve) => setTimeout(resolve));

/** A page whose animation frames come when `seen` is called, and its loading of payloads that `data` makes of their address. */
function page({ isPartial }) {
  const frames = [];
  globalThis.requestAnimationFrame = (act) => frames.push(act);
  globalThis.document = { documentElement: { dataset: {} }, hidden: false };
  const made = [];
  const drawn = [];
  const data = {
    fetch: async (url) => ({ url }),
    overview: (payload) => ({ payload, isPartial, of: payload.url }),
    whole: async (payload) => (made.push(payload.url), { payload, isPartial: false, of: payload.url }),
    open: async () => {},
    view: async () => {},
  };
  const on = { draw: ({ of }) => drawn.push(of), count: async () => {}, fail: (words) => assert.equal(words, "") };
  return { ...bindLoading(data, () => PLAIN, on), made, drawn, seen };

  async function seen() {
    for (let i = 0; i < 8; i++) {
      await turn();
      for (const act of frames.splice(0)) act();
    }
    await turn();
  }
}

const urls = (name, isSmall = false) => ({ overview: `${name}/overview`, full: `${name}/full`, isSmall });

test("the overview is drawn, then all of it", async () => {
  const { show, drawn, seen } = page({ isPartial: true });

  show(urls("a"));
  await seen();

  assert.deepEqual(drawn, ["a/overview", "a/full"]);
});

test("all of a small payload that is there with its overview is drawn at once", async () => {
  const { show, drawn, seen } = page({ isPartial: true });

  show(urls("a", true));
  await seen();

  assert.deepEqual(drawn, ["a/full"]);
});

test("what came of a load that another took the place of is not decoded: its names would be taken for the other's", async () => {
  const { show, made, drawn, seen } = page({ isPartial: true });

  show(urls("a"));
  await turn(); // its overview is drawn and not seen yet, all of it has come
  show(urls("b"));
  await seen();

  assert.deepEqual(drawn, ["a/overview", "b/overview", "b/full"]);
  assert.deepEqual(made, ["b/full"]);
});
