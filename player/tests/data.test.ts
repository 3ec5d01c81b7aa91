import assert from "node:assert/strict";
import test from "node:test";
import { floatsOf, unpacked } from "../src/data.ts";

const base64 = (values: number[]) => Buffer.from(Float32Array.from(values).buffer).toString("base64");

test("numbers come back from base 64", () => {
  assert.deepEqual([...floatsOf(base64([1, -2.5, 1e-20, 3e8]))], [...Float32Array.from([1, -2.5, 1e-20, 3e8])]);
  assert.ok(Number.isNaN(floatsOf(base64([NaN]))[0]));
  assert.equal(floatsOf("").length, 0);
});

test("a scene finds its samples among all numbers", () => {
  const scene = {
    label: "a",
    color: "#000000",
    forward: "y",
    weight: 1,
    size: 1,
    times: [0, 1],
    frames: [{ name: "torso", places: 0, turns: 6 }],
    solids: [
      { frame: 0, shape: { kind: "surface", vertices: 28, count: 2, faces: [0, 1, 0] }, color: "#000000", role: "leg" },
      { frame: 0, shape: { kind: "ball", center: [0, 0, 0], radii: [1, 1, 1] }, color: "#000000", role: "foot" },
    ],
    threads: [],
    tips: [["tail", 0, [0, 0, 1]]],
    events: [],
    forces: [{ foot: "leg", frame: 0, point: [0, 0, 0], color: "#000000", forces: 14 }],
    markers: [{ name: "m", color: "#000000", radius: 1, places: 20 }],
    terrain: { x: [0, 1], y: [0, 1, 2], heights: 28 },
    plots: [
      {
        key: "k",
        title: "k",
        unit: "N",
        group: "feet",
        shared: false,
        curves: [{ name: "c", color: "#000000", dash: 0, values: 26 }],
      },
    ],
    caption: { robot: "", motion: "", measures: [], notes: [] },
  };
  const numbers = Array.from({ length: 34 }, (_, k) => k);
  const show = unpacked(JSON.stringify({ layout: "overlay", dashes: [[]], scenes: [scene], floats: base64(numbers) }));
  const [found] = show.scenes;
  assert.equal(show.layout, "overlay");
  assert.deepEqual([...found.frames[0].places], [0, 1, 2, 3, 4, 5]);
  assert.deepEqual([...found.frames[0].turns], [6, 7, 8, 9, 10, 11, 12, 13]);
  assert.deepEqual([...found.forces[0].forces], [14, 15, 16, 17, 18, 19]);
  assert.equal(found.forces[0].foot, "leg");
  assert.deepEqual([...found.markers[0].places], [20, 21, 22, 23, 24, 25]);
  assert.deepEqual([...found.plots[0].curves[0].values], [26, 27]);
  assert.deepEqual([...found.terrain!.heights], [28, 29, 30, 31, 32, 33]);
  const [mesh, ball] = found.solids.map((solid) => solid.shape);
  assert.ok(mesh.kind === "surface" && ball.kind === "ball");
  assert.deepEqual([...mesh.vertices], [28, 29, 30, 31, 32, 33]);
  assert.deepEqual(found.tips, [["tail", 0, [0, 0, 1]]]);
});
