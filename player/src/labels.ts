/** The names of the runs in the picture. */

import { chip } from "./caption.ts";
import type { Scene } from "./data.ts";
import { element } from "./dom.ts";
import { fixed } from "./units.ts";

/** Which run is seen where, and whether it has ended. */
export class Labels {
  readonly element = element("div", { class: "tailwork-labels" });
  private readonly ended: HTMLElement[];
  private readonly labels: HTMLElement[];
  private readonly notes = element("div");

  constructor(private readonly scenes: readonly Scene[]) {
    this.ended = scenes.map(() => element("span", { class: "tailwork-ended" }));
    this.labels = scenes.map((scene, k) =>
      element("div", { class: "tailwork-label", title: scene.label }, chip(scene.color), scene.label, this.ended[k]),
    );
    this.element.append(...this.labels, this.notes);
  }

  /** Texts at places of the picture (shares of its width and height). */
  note(notes: readonly { text: string; left: number; top: number }[]): void {
    const made = notes.map(({ text, left, top }) => {
      const note = element("span", { class: "tailwork-note" }, text);
      [note.style.left, note.style.top] = [`${100 * left}%`, `${100 * top}%`];
      return note;
    });
    this.notes.replaceChildren(...made);
  }

  /** In the corners of parts of the picture (shares of its width and height); or one below the other. */
  place(parts: readonly { left: number; top: number; width: number }[]): void {
    const apart = parts.length === this.scenes.length;
    this.labels.forEach((label, k) => {
      label.style.left = apart ? `${100 * parts[k].left}%` : "0";
      label.style.maxWidth = apart ? `${100 * parts[k].width}%` : "100%"; // no farther than its own part
      label.style.whiteSpace = apart ? "normal" : "nowrap";
      label.style.top = apart ? `${100 * parts[k].top}%` : `${1.6 * k}rem`;
    });
  }

  setTime(time: number, end: number): void {
    this.scenes.forEach((scene, k) => {
      const last = scene.times[scene.times.length - 1];
      this.ended[k].textContent = last < end && time > last ? ` ended at ${fixed(last, 3)} s` : "";
    });
  }
}
