import assert from "node:assert/strict";
import test from "node:test";
import { between, placed, turnBetween, valueBetween } from "../src/pose.ts";

/** A turn about z by an angle. */
const turn = (angle: number) => [Math.cos(angle / 2), 0, 0, Math.sin(angle / 2)];

function near(found: readonly number[], wanted: readonly number[], within = 1e-7): void {
  assert.equal(found.length, wanted.length);
  found.forEach((value, k) => assert.ok(Math.abs(value - wanted[k]) <= within, `${found} is not ${wanted}`));
}

test("places lie on a line between samples", () => {
  const series = Float32Array.from([0, 0, 0, 4, 8, -2]);
  near(between(series, 3, { index: 0, share: 0.25 }, []), [1, 2, -0.5]);
  near(between(series, 3, { index: 1, share: 0 }, []), [4, 8, -2]); // and nothing is read beyond the last
});

test("turns go on at a constant rate", () => {
  const turns = Float32Array.from([...turn(0.2), ...turn(2.2)]);
  near(turnBetween(turns, { index: 0, share: 0.3 }, []), turn(0.8));
  near(turnBetween(turns, { index: 1, share: 0 }, []), turn(2.2));
});

test("opposite quaternions are the same turn, and equal ones stay", () => {
  const opposite = Float32Array.from([...turn(0.2), ...turn(1.2).map((part) => -part)]);
  near(turnBetween(opposite, { index: 0, share: 0.5 }, []), turn(0.7));
  const still = Float32Array.from([...turn(1), ...turn(1)]);
  near(turnBetween(still, { index: 0, share: 0.5 }, []), turn(1));
});

test("a point of a frame is turned and then shifted", () => {
  near(placed(turn(Math.PI / 2), [10, 20, 30], [1, 2, 3]), [8, 21, 33], 1e-12);
  const about = [0.5, 0.5, 0.5, 0.5]; // x to y, y to z, z to x
  near(placed(about, [0, 0, 0], [1, 2, 3]), [3, 1, 2], 1e-12);
});

test("values next to a gap are none", () => {
  assert.equal(valueBetween([1, 3], { index: 0, share: 0.5 }), 2);
  assert.ok(Number.isNaN(valueBetween([1, null], { index: 0, share: 0.5 })));
  assert.equal(valueBetween([1, null], { index: 0, share: 0 }), 1);
});
