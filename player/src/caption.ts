/** What is shown, in words: robots, motions, a table of measures, notes. */

import type { Scene } from "./data.ts";
import { element } from "./dom.ts";

export function captionOf(scenes: readonly Scene[]): HTMLElement {
  const names = [...new Set(scenes.flatMap((scene) => scene.caption.measures.map(([name]) => name)))];
  const box = element("div", { class: "tailwork-caption" });
  if (names.length || scenes.length > 1) box.append(tableOf(scenes, names));
  const notes = scenes.flatMap((scene) => scene.caption.notes.map((note) => ({ scene, note })));
  if (notes.length) {
    const items = notes.map(({ scene, note }) =>
      element("li", {}, scenes.length > 1 ? `${scene.label}: ${note}` : note),
    );
    box.append(element("ul", { class: "tailwork-notes" }, ...items));
  }
  return box;
}

function tableOf(scenes: readonly Scene[], names: readonly string[]): HTMLElement {
  const head = element(
    "tr",
    {},
    element("td"),
    ...scenes.map((scene) => element("th", { scope: "col" }, chip(scene.color), scene.label)),
  );
  const row = (name: string, cells: string[]) =>
    element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((cell) => element("td", {}, cell)));
  const rows = [
    row(
      "robot",
      scenes.map((scene) => scene.caption.robot),
    ),
  ];
  if (scenes.some((scene) => scene.caption.motion))
    rows.push(
      row(
        "motion",
        scenes.map((scene) => scene.caption.motion || "–"),
      ),
    );
  for (const name of names) {
    rows.push(
      row(
        name,
        scenes.map((scene) => scene.caption.measures.find(([other]) => other === name)?.[1] ?? "–"),
      ),
    );
  }
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
  return element("div", { class: "tailwork-table", tabindex: "0", role: "group", "aria-label": "Measures" }, table);
}

/** A spot of a run's colour. */
export function chip(color: string): HTMLElement {
  const spot = element("span", { class: "tailwork-chip", "aria-hidden": "true" });
  spot.style.background = color;
  return spot;
}
