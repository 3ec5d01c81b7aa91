/** What is shown, in words: robots, motions, a table of measures, notes. */

import type { Scene } from "./data.ts";
import { element } from "./dom.ts";

/** `folded`: its table is opened by a click, as suits a player among other text. */
export function captionOf(scenes: readonly Scene[], folded: boolean): HTMLElement {
  const names = [...new Set(scenes.flatMap((scene) => scene.caption.measures.map(([name]) => name)))];
  const box = element("div", { class: "tailwork-caption" });
  if (names.length || scenes.length > 1) {
    const table = tableOf(scenes, names);
    box.append(folded ? element("details", {}, element("summary", {}, "Measures of these runs"), table) : table);
  }
  const notes = notesOf(scenes).map((note) => element("li", {}, note));
  if (notes.length) box.append(element("ul", { class: "tailwork-notes" }, ...notes));
  return box;
}

/** Notes of all runs; what all of them say, once, and what some say with their names. */
function notesOf(scenes: readonly Scene[]): string[] {
  const all = [...new Set(scenes.flatMap((scene) => scene.caption.notes))];
  return all.map((note) => {
    const own = scenes.filter((scene) => scene.caption.notes.includes(note)).map((scene) => scene.label);
    return own.length === scenes.length ? note : `${own.join(", ")}: ${note}`;
  });
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
  table.style.setProperty("--runs", String(scenes.length));
  return element("div", { class: "tailwork-table", tabindex: "0", role: "group", "aria-label": "Measures" }, table);
}

/** A spot of a run's colour. */
export function chip(color: string): HTMLElement {
  const spot = element("span", { class: "tailwork-chip", "aria-hidden": "true" });
  spot.style.background = color;
  return spot;
}
