import assert from "node:assert/strict";
import test from "node:test";
import type { Plot, Scene } from "../src/data.ts";
import { merged, panelsOf, resampled } from "../src/panels.ts";

function plot(key: string, shared: boolean, name: string, values: number[], unit = "°"): Plot {
  return {
    key,
    title: key,
    unit,
    group: "angles",
    shared,
    curves: [{ name, color: "#0072b2", dash: 0, values: Float32Array.from(values) }],
  };
}

function scene(label: string, times: number[], plots: Plot[]): Scene {
  return { label, times, plots } as unknown as Scene;
}

test("plots of several runs with the same key become one where they are shared", () => {
  const first = scene("a", [0, 1], [plot("pitch", true, "a", [0, 1]), plot("feet", false, "leg1", [5, 6])]);
  const second = scene("b", [0, 1], [plot("pitch", true, "b", [0, 2]), plot("feet", false, "leg1", [7, 8])]);
  const panels = panelsOf([first, second]);
  assert.deepEqual(
    panels.map(({ title, scene }) => [title, scene?.label]),
    [
      ["pitch", undefined],
      ["feet", "a"],
      ["feet", "b"],
    ],
  );
  assert.deepEqual(
    panels[0].lines.map(({ name, values }) => [name, values]),
    [
      ["a", [0, 1]],
      ["b", [0, 2]],
    ],
  );
  assert.equal(panelsOf([first])[1].scene, null); // of one run, it need not be said whose it is
});

test("runs with samples at other times keep their own lines, and end where they end", () => {
  const first = scene("a", [0, 1, 2], [plot("pitch", true, "a", [0, 10, 20])]);
  const second = scene("b", [0, 0.5, 1], [plot("pitch", true, "b", [0, 1, 4])]);
  const [panel] = panelsOf([first, second]);
  assert.deepEqual(panel.times, [0, 0.5, 1, 2]);
  assert.deepEqual(
    panel.lines.map(({ values }) => values),
    [
      [0, 5, 10, 20],
      [0, 1, 4, null],
    ],
  );
});

test("gaps stay gaps", () => {
  const times = [0, 1, 2, 3];
  assert.deepEqual(resampled(times, Float32Array.from([1, NaN, 3, 4]), times), [1, null, 3, 4]);
  assert.deepEqual(resampled(times, Float32Array.from([1, NaN, 3, 4]), [0.5, 2.5]), [null, 3.5]);
});

test("equal times are merged without a copy", () => {
  const times = [0, 1, 2];
  assert.equal(merged([times, [0, 1, 2]]), times);
});

test("small forces are shown in a unit that suits them", () => {
  const [panel] = panelsOf([scene("a", [0, 1], [plot("force", false, "leg1", [0.005, -0.02], "N")])]);
  assert.equal(panel.unit, "mN");
  assert.ok(Math.abs(panel.lines[0].values[1]! + 20) < 1e-5);
});
