import assert from "node:assert/strict";
import test from "node:test";
import { actionOf } from "../src/keys.ts";
import { arranged, distanceFor, type Vector } from "../src/stage/camera.ts";
import { stateAt } from "../src/stage/contacts.ts";
import { flashAt, impulseName, largestImpulse } from "../src/stage/impulses.ts";
import { legible } from "../src/theme.ts";
import { amount, decimalsFor, decimalsOf, fixed, lengthName, prefixed, roundBelow } from "../src/units.ts";

const key = (name: string, more = {}) => ({
  key: name,
  shiftKey: false,
  ctrlKey: false,
  altKey: false,
  metaKey: false,
  ...more,
});

test("keys", () => {
  assert.equal(actionOf(key(" ")), "play");
  assert.deepEqual(actionOf(key("ArrowLeft")), { frames: -1 });
  assert.deepEqual(actionOf(key("ArrowRight", { shiftKey: true })), { frames: 10 });
  assert.deepEqual(
    ["ArrowUp", "ArrowDown", "Home", "End"].map((name) => actionOf(key(name))),
    ["faster", "slower", "home", "end"],
  );
  assert.equal(actionOf(key("a")), null);
  assert.equal(actionOf(key("ArrowLeft", { altKey: true })), null); // the browser's own
});

test("numbers and units", () => {
  assert.deepEqual(prefixed("N m", 2e-5), { unit: "µN m", by: 1e-6 });
  assert.deepEqual(prefixed("N", 12), { unit: "N", by: 1 });
  assert.deepEqual(prefixed("°", 1e-5), { unit: "°", by: 1 });
  assert.deepEqual(prefixed("N", 0), { unit: "N", by: 1 });
  assert.equal(fixed(-1.234, 1), "−1.2");
  assert.equal(fixed(-0.001, 2), "0.00");
  assert.equal(fixed(NaN, 2), "–");
  assert.deepEqual([0.5, 14, 250, 0].map(decimalsFor), [3, 1, 0, 2]);
  assert.deepEqual([5, 2.5, 0.5, 0.25, 0.025, 1e-9].map(decimalsOf), [0, 1, 1, 2, 3, 6]);
  assert.deepEqual([0.1125, 0.3, 0.7, 1, 0.0099].map(roundBelow), [0.1, 0.2, 0.5, 1, 0.005]);
  assert.deepEqual([0.005, 0.1, 2].map(lengthName), ["5 mm", "10 cm", "2 m"]);
  assert.deepEqual([0.0255, 221.48].map((force) => amount(force, "N")), ["25.5\u00a0mN", "221\u00a0N"]);
});

test("the eye is just so far that all is seen", () => {
  const angle = Math.PI / 2; // sees as far up as it is away
  const points: Vector[] = [
    [0, 0, 1],
    [0, 0, -1],
  ];
  assert.ok(Math.abs(distanceFor(points, [0, 0, 0], [1, 0, 0], angle, 1) - 1) < 1e-12);
  const near: Vector[] = [[0.5, 2, 0]]; // nearer by a half; far to the side, in a wide picture
  assert.ok(Math.abs(distanceFor(near, [0, 0, 0], [1, 0, 0], angle, 2) - 1.5) < 1e-12);
});

test("robots stand beside one another where it is wide, and below one another where it is high", () => {
  assert.deepEqual(arranged(2, 1200, 500), { columns: 2, rows: 1 });
  assert.deepEqual(arranged(2, 400, 800), { columns: 1, rows: 2 });
  assert.deepEqual(arranged(4, 800, 640), { columns: 2, rows: 2 });
  assert.deepEqual(arranged(1, 100, 900), { columns: 1, rows: 1 });
});

test("dark lines are lit on dark paper, others stay", () => {
  assert.equal(legible("#24292f", false), "#24292f");
  assert.equal(legible("#f0e442", true), "#f0e442");
  const lit = legible("#24292f", true);
  assert.ok(parseInt(lit.slice(1, 3), 16) > 0x70, lit);
});

test("what a point on the ground does", () => {
  const spans = [[0, 0.1, "stick"], [0.1, 0.15, "slip"], [0.3, 0.4, "stick"]] as const;
  const phases = { point: "leg1", frame: 0, place: [0, 0, 0] as const, color: "#000000", spans, impulses: [] };
  assert.deepEqual([0.05, 0.12, 0.2, 0.35, 0.5].map((time) => stateAt(phases, time)), [
    "stick", "slip", null, "stick", null,
  ]);
});

test("impulses flash from their impact on, for a part of the run", () => {
  const impulses = [[0.1, [0, 0, 2]], [0.12, [3, 0, 4]]] as const;
  const phases = { point: "a", frame: 0, place: [0, 0, 0], color: "#000000", spans: [], impulses } as const;
  assert.equal(flashAt(phases, 0.0999, 1), null);
  assert.deepEqual(flashAt(phases, 0.1, 1), { impulse: [0, 0, 2], over: 0 });
  assert.deepEqual(flashAt(phases, 0.12, 1)?.impulse, [3, 0, 4]);
  assert.equal(flashAt(phases, 0.2, 1), null);
  assert.equal(impulseName([3, 0, 4]), "5\u00a0N\u00a0s");
  assert.equal(largestImpulse([]), 0);
});
