/** The place of the moving picture, and how large things are in it. */

import type { Scene } from "./data.ts";
import { chip } from "./caption.ts";
import { element } from "./dom.ts";
import type { Labels } from "./labels.ts";
import { measureOf } from "./stage/arrows.ts";
import { SLIPS, STICKS } from "./stage/contacts.ts";
import { IMPULSE, largestImpulse } from "./stage/impulses.ts";
import type { Stage } from "./stage/stage.ts";
import { amount, lengthName } from "./units.ts";

const NONE = "This browser shows no 3D (WebGL is missing or turned off). The plots still play.";

export function pictureOf(scenes: readonly Scene[], stage: Stage | null, labels: Labels): HTMLElement {
  if (!stage) return element("div", { class: "tailwork-picture tailwork-plain" }, element("p", {}, NONE));
  const { canvas } = stage;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Moving picture of ${scenes.map((scene) => scene.label).join(", ")}`);
  canvas.title = "Drag to turn, wheel or two fingers to zoom, right button to move";
  return element("div", { class: "tailwork-picture" }, canvas, labels.element);
}

/** The mesh of the grid, and the force of an arrow. */
export function scaleOf(scenes: readonly Scene[], { mesh, squares }: Stage): HTMLElement {
  const pushed = scenes.filter((scene) => scene.forces.length);
  const forces = [...new Set(pushed.map((scene) => amount(measureOf(scene), "N")))].join(", ");
  const what = pushed.every((scene) => scene.weight > 0) ? `the robot's weight (${forces})` : forces;
  const arrows = pushed.length ? ` · an arrow of ${squares} squares: ${what}` : "";
  const scale = element("p", { class: "tailwork-scale" }, `grid ${lengthName(mesh)}${arrows}`);
  if (scenes.some(({ phases }) => phases.length)) scale.append(" · ", chip(STICKS), "sticks ", chip(SLIPS), "slips");
  const largest = largestImpulse(scenes);
  if (largest) scale.append(" · ", chip(IMPULSE), `impulse of an impact, up to ${amount(largest, "N s")}`);
  return scale;
}
