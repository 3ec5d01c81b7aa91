import assert from "node:assert/strict";
import test from "node:test";
import { linkedTime, momentAt, nextSpeed, REST, spanOf, SPEEDS, speedFor, speedName, stepped, ticked } from "../src/time.ts";

test("a run takes about six seconds on the screen, if a speed allows it", () => {
  assert.equal(speedFor(0.3), 1 / 20);
  assert.equal(speedFor(3), 1 / 2);
  assert.equal(speedFor(6), 1);
  assert.equal(speedFor(100), 1);
  assert.equal(speedFor(0.001), 1 / 50);
  for (const duration of [0.2, 0.3, 0.5, 0.6, 1.2, 3, 6]) {
    const seen = duration / speedFor(duration);
    assert.ok(seen >= 4 && seen <= 10, `${duration} s take ${seen} s`);
  }
});

test("speeds have names and neighbours", () => {
  assert.deepEqual(SPEEDS.map(speedName), ["1", "1/2", "1/5", "1/10", "1/20", "1/50"]);
  assert.equal(nextSpeed(1 / 5, 1), 1 / 2);
  assert.equal(nextSpeed(1 / 5, -1), 1 / 10);
  assert.equal(nextSpeed(1, 1), 1);
  assert.equal(nextSpeed(1 / 50, -1), 1 / 50);
});

test("a time is between two samples, or at an end", () => {
  const times = [0, 0.125, 0.375, 0.5];
  assert.deepEqual(momentAt(times, -1), { index: 0, share: 0 });
  assert.deepEqual(momentAt(times, 0.125), { index: 1, share: 0 });
  assert.deepEqual(momentAt(times, 0.25), { index: 1, share: 0.5 });
  assert.deepEqual(momentAt(times, 0.5), { index: 3, share: 0 });
  assert.deepEqual(momentAt(times, 9), { index: 3, share: 0 });
  assert.deepEqual(momentAt([2], 2), { index: 0, share: 0 });
});

test("steps lead from sample to sample and stop at the ends", () => {
  const times = [0, 0.1, 0.2, 0.3];
  assert.equal(stepped(times, 0.1, 1), 0.2);
  assert.equal(stepped(times, 0.1, -1), 0);
  assert.equal(stepped(times, 0.15, 1), 0.2);
  assert.equal(stepped(times, 0.15, -1), 0.1);
  assert.equal(stepped(times, 0.1 + 1e-9, 1), 0.2); // a rounding error is no step
  assert.equal(stepped(times, 0.1 - 1e-9, 1), 0.2);
  assert.equal(stepped(times, 0.2, 10), 0.3);
  assert.equal(stepped(times, 0.2, -10), 0);
});

test("the clock runs slowly, rests at the end and starts again; without the loop it stops", () => {
  const span = { start: 1, end: 2 };
  const playing = { time: 1.5, rest: 0, playing: true };
  assert.deepEqual(ticked(playing, 0.5, 1 / 2, span, true), { time: 1.75, rest: 0, playing: true });
  const end = ticked({ ...playing, time: 1.99 }, 0.1, 1, span, true);
  assert.deepEqual(end, { time: 2, rest: 0.1, playing: true });
  assert.deepEqual(ticked(end, REST, 1, span, true), { time: 1, rest: 0, playing: true });
  assert.deepEqual(ticked({ ...playing, time: 1.99 }, 0.1, 1, span, false), { time: 2, rest: 0, playing: false });
  const paused = { ...playing, playing: false };
  assert.equal(ticked(paused, 1, 1, span, true), paused);
});

test("several runs share the span from the first to the last moment", () => {
  assert.deepEqual(spanOf([{ times: [0, 1, 2] }, { times: [-1, 1.5] }]), { start: -1, end: 2 });
});

test("an address may name a time", () => {
  assert.deepEqual(["#t=0.25", "#t=3", "#t=.5"].map(linkedTime), [0.25, 3, 0.5]);
  assert.deepEqual(["", "#t=", "#t=x", "#results", "#t=1e9"].map(linkedTime), [null, null, null, null, null]);
});
