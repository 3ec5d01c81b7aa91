/** Footfall below the time bar: a row a point, filled where it is on the ground, hatched where it slips, and a mark
 * where an impact gave it an impulse. */

import type { Scene } from "./data.ts";
import { element } from "./dom.ts";
import type { Span } from "./time.ts";
import { impulseName } from "./stage/impulses.ts";
import { fixed } from "./units.ts";

/** The rows of all runs that have any; null: none has. */
export function footfallOf(scenes: readonly Scene[], span: Span): HTMLElement | null {
  const whole = span.end - span.start || 1;
  const several = scenes.filter((scene) => scene.phases.length).length > 1;
  const rows = scenes.flatMap((scene) =>
    scene.phases
      .filter((phases) => phases.spans.length || phases.impulses.length)
      .map((phases, k) => {
        const name = several ? `${scene.label}: ${phases.point}` : phases.point;
        const bar = (kind: string, start: number, end: number, title: string) => {
          const drawn = element("span", { class: `tailwork-phase ${kind}`, title: `${name} ${title} s` });
          drawn.style.setProperty("--from", String((start - span.start) / whole));
          drawn.style.setProperty("--share", String((end - start) / whole));
          drawn.style.setProperty("--color", phases.color);
          return drawn;
        };
        const bars = phases.spans.map(([start, end, state]) =>
          bar(state, start, end, `${state}s from ${fixed(start, 3)} to ${fixed(end, 3)}`),
        );
        const marks = phases.impulses.map(([time, impulse]) =>
          bar("impulse", time, time, `is given ${impulseName(impulse)} at ${fixed(time, 3)}`),
        );
        return element("div", { class: k ? "tailwork-phases" : "tailwork-phases first", title: name }, ...bars, ...marks);
      }),
  );
  if (!rows.length) return null;
  const label = "Footfall: when each point is on the ground; hatched: it slips; marks: impulses of impacts";
  return element("div", { class: "tailwork-footfall", role: "img", "aria-label": label, title: label }, ...rows);
}
