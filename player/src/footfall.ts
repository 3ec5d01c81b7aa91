/** Footfall below the time bar: a row a point, filled where it is on the ground, hatched where it slips. */

import type { Scene } from "./data.ts";
import { element } from "./dom.ts";
import type { Span } from "./time.ts";
import { fixed } from "./units.ts";

/** The rows of all runs that have any; null: none has. */
export function footfallOf(scenes: readonly Scene[], span: Span): HTMLElement | null {
  const whole = span.end - span.start || 1;
  const several = scenes.filter((scene) => scene.phases.length).length > 1;
  const rows = scenes.flatMap((scene) =>
    scene.phases
      .filter((phases) => phases.spans.length)
      .map((phases) => {
        const name = several ? `${scene.label}: ${phases.point}` : phases.point;
        const bars = phases.spans.map(([start, end, state]) => {
          const title = `${name} ${state}s from ${fixed(start, 3)} to ${fixed(end, 3)} s`;
          const bar = element("span", { class: `tailwork-phase ${state}`, title });
          bar.style.setProperty("--from", String((start - span.start) / whole));
          bar.style.setProperty("--share", String((end - start) / whole));
          bar.style.setProperty("--color", phases.color);
          return bar;
        });
        return element("div", { class: "tailwork-phases", title: name }, ...bars);
      }),
  );
  if (!rows.length) return null;
  const label = "Footfall: when each point is on the ground; hatched: it slips";
  return element("div", { class: "tailwork-footfall", role: "img", "aria-label": label, title: label }, ...rows);
}
