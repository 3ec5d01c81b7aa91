/** Plots of several runs as panels: those with the same key become one where they are shared. */

import type { Plot, Scene } from "./data.ts";
import { valueBetween } from "./pose.ts";
import { momentAt } from "./time.ts";
import { prefixed } from "./units.ts";

export interface Line {
  name: string;
  color: string;
  dash: number;
  values: (number | null)[]; // null: not shown there
}

export interface Panel {
  title: string;
  unit: string;
  group: string;
  scene: Scene | null; // whose it is, where there are several and it is not shared
  times: readonly number[];
  lines: Line[];
}

/** All panels: in the order of the keys, then of the runs. */
export function panelsOf(scenes: readonly Scene[]): Panel[] {
  const byKey = new Map<string, { plot: Plot; scene: Scene }[]>();
  for (const scene of scenes) {
    for (const plot of scene.plots) {
      const key = `${plot.group}\n${plot.key}\n${plot.unit}`;
      byKey.set(key, [...(byKey.get(key) ?? []), { plot, scene }]);
    }
  }
  const several = scenes.length > 1;
  return [...byKey.values()].flatMap((found) =>
    found.every(({ plot }) => plot.shared)
      ? [panel(found, null)]
      : found.map((one) => panel([one], several ? one.scene : null)),
  );
}

function panel(found: readonly { plot: Plot; scene: Scene }[], scene: Scene | null): Panel {
  const { title, unit, group } = found[0].plot;
  const times = merged(found.map((one) => one.scene.times));
  const curves = found.flatMap((one) => one.plot.curves.map((curve) => ({ curve, own: one.scene.times })));
  const scale = prefixed(unit, largest(curves.map(({ curve }) => curve.values)));
  const lines = curves.map(({ curve, own }) => ({
    name: curve.name,
    color: curve.color,
    dash: curve.dash,
    values: resampled(own, curve.values, times).map((value) => (value === null ? null : value / scale.by)),
  }));
  return { title, unit: scale.unit, group, scene, times, lines };
}

/** All times of several series, in order, each once. */
export function merged(series: readonly (readonly number[])[]): readonly number[] {
  if (series.every((times) => same(times, series[0]))) return series[0];
  return [...new Set(series.flat())].sort((a, b) => a - b);
}

function same(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((time, k) => time === b[k]);
}

/** A curve at other times: on straight lines between its samples, nothing outside of them. */
export function resampled(own: readonly number[], values: Float32Array, times: readonly number[]): (number | null)[] {
  return times.map((time, k) => {
    if (time < own[0] || time > own[own.length - 1]) return null;
    const value = times === own ? values[k] : valueBetween(values, momentAt(own, time));
    return Number.isFinite(value) ? value : null;
  });
}

function largest(curves: readonly Float32Array[]): number {
  let found = 0;
  for (const values of curves) for (const value of values) if (Math.abs(value) > found) found = Math.abs(value);
  return found;
}
