import assert from "node:assert/strict";
import test from "node:test";
import { followRun } from "../../frontend/js/live.js";

// Stands in for the browser's socket and fetch: what they would do is up to each test.
class Socket extends EventTarget {
  static opened = [];

  constructor(url) {
    super();
    this.url = url;
    Socket.opened.push(this);
  }

  say(type, fields = {}) {
    this.dispatchEvent(Object.assign(new Event(type), fields));
  }

  close(code) {
    this.say("close", { code });
  }
}

// Time that passes when a test says so; the test runner's own differs between the versions of Node that are supported.
class Clock {
  now = 0;
  due = [];

  add = (every) => (call, ms) => {
    const timer = { at: this.now + ms, ms, call, every };
    this.due.push(timer);
    return timer;
  };

  clear = (timer) => {
    this.due = this.due.filter((other) => other !== timer);
  };

  tick(ms) {
    const end = this.now + ms;
    for (let next; (next = this.due.sort((a, b) => a.at - b.at)[0]) && next.at <= end; ) {
      this.now = next.at;
      if (next.every) next.at += next.ms;
      else this.clear(next);
      next.call();
    }
    this.now = end;
  }

  replaceTimers(t) {
    const real = { setTimeout, setInterval, clearInterval };
    Object.assign(globalThis, { setTimeout: this.add(false), setInterval: this.add(true), clearInterval: this.clear });
    t.after(() => Object.assign(globalThis, real));
  }
}

function follow(t, { answers = [] } = {}) {
  const clock = new Clock();
  clock.replaceTimers(t);
  Object.assign(globalThis, {
    WebSocket: Socket,
    fetch: async () => answers.shift() ?? Promise.reject(new Error("down")),
  });
  Socket.opened = [];
  const told = [];
  const run = { isDone: false };
  const tell = (what) => (fields) => told.push([what, fields]);
  const on = { message: tell("message"), view: tell("view"), link: tell("link"), gone: tell("gone") };
  followRun({ socketUrl: "ws://site/ws", viewUrl: "/api", isDone: () => run.isDone }, on);
  return { told, run, clock, names: () => told.map(([what]) => what) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("messages of the socket are told as they come", (t) => {
  const { told } = follow(t);

  Socket.opened[0].say("open");
  Socket.opened[0].say("message", { data: '{"state":"recording"}' });

  assert.deepEqual(told, [
    ["link", true],
    ["message", { state: "recording" }],
  ]);
});

test("while the socket is down the page asks, and the socket comes back", async (t) => {
  const { told, names, clock } = follow(t, {
    answers: [{ ok: true, status: 200, json: async () => ({ state: "recording" }) }],
  });

  Socket.opened[0].say("close", { code: 1006 });
  clock.tick(3000);
  await settled();

  assert.equal(Socket.opened.length, 2);
  assert.deepEqual(told, [
    ["link", false],
    ["view", { state: "recording" }],
  ]);

  Socket.opened[1].say("open");
  clock.tick(60_000);
  await settled();

  assert.deepEqual(names(), ["link", "view", "link"]);
});

test("retries come at longer and longer intervals", (t) => {
  const { clock } = follow(t);

  for (let i = 0; i < 8; i++) {
    Socket.opened.at(-1).say("close", { code: 1006 });
    clock.tick(20_000);
  }
  Socket.opened.at(-1).say("close", { code: 1006 });
  const before = Socket.opened.length;
  clock.tick(10_000);

  assert.equal(Socket.opened.length, before);
});

test("nothing is asked any more once the run is over", (t) => {
  const { run, names, clock } = follow(t);

  run.isDone = true;
  Socket.opened[0].say("message", { data: '{"state":"ready"}' });
  clock.tick(60_000);

  assert.equal(Socket.opened.length, 1);
  assert.deepEqual(names(), ["message"]);
});

test("a run that can't be seen any more is told, and not asked for again", (t) => {
  const { names, clock } = follow(t);

  Socket.opened[0].say("close", { code: 4404 });
  clock.tick(60_000);

  assert.deepEqual(names(), ["gone"]);
  assert.equal(Socket.opened.length, 1);
});
