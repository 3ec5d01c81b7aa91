/** Play, the time bar and the menu of speeds. */

import type { Scene } from "./data.ts";
import { element, icon } from "./dom.ts";
import { footfallOf } from "./footfall.ts";
import { SPEEDS, speedName, type Span } from "./time.ts";
import { fixed } from "./units.ts";

const PLAY = "M4 2.5v11l9.5-5.5z";
const PAUSE = "M4 2.5h3v11H4zM9 2.5h3v11H9z";
const LOOP =
  "M4.5 4H11a3 3 0 0 1 3 3v1h-1.6V7A1.4 1.4 0 0 0 11 5.6H4.5V8L1 4.8 4.5 1.6z" +
  "M11.5 12H5a3 3 0 0 1-3-3V8h1.6v1A1.4 1.4 0 0 0 5 10.4h6.5V8L15 11.2l-3.5 3.2z";

export interface Wishes {
  play(): void;
  seek(time: number): void;
  speed(speed: number): void;
  loop(): void;
}

/** The row below the picture: play, time bar, time, speed, loop. */
export class Transport {
  readonly element: HTMLElement;
  private readonly play: HTMLButtonElement;
  private readonly bar: HTMLInputElement;
  private readonly now = element("span", { class: "tailwork-time" });
  private readonly menu: HTMLSelectElement;
  private readonly loop: HTMLButtonElement;
  private readonly told = element("p", { class: "tailwork-event" });
  private readonly events: { time: number; text: string }[];
  private readonly decimals: number;
  private playing: boolean | null = null;

  constructor(
    scenes: readonly Scene[],
    private readonly span: Span,
    wishes: Wishes,
  ) {
    const duration = span.end - span.start;
    this.decimals = duration < 20 ? 3 : 2;
    this.play = element("button", { type: "button", class: "tailwork-play" });
    this.play.addEventListener("click", () => wishes.play());
    this.bar = element("input", {
      type: "range",
      min: String(span.start),
      max: String(span.end),
      step: "any",
      value: String(span.start),
      "aria-label": "Time",
      title: "Time: drag, or use the arrow keys",
    });
    this.bar.addEventListener("input", () => wishes.seek(Number(this.bar.value)));
    this.menu = element("select", { "aria-label": "Speed", title: "Speed (arrow up, arrow down)" });
    for (const speed of SPEEDS) this.menu.append(element("option", { value: String(speed) }, `${speedName(speed)} ×`));
    this.menu.addEventListener("change", () => wishes.speed(Number(this.menu.value)));
    this.loop = element("button", { type: "button", title: "Play again and again", "aria-label": "Loop" }, icon(LOOP));
    this.loop.addEventListener("click", () => wishes.loop());
    const several = scenes.length > 1;
    this.events = scenes
      .flatMap((scene) =>
        scene.events.map(([time, what]) => ({ time, text: several ? `${what} (${scene.label})` : what })),
      )
      .sort((a, b) => a.time - b.time);
    const slider = element("div", { class: "tailwork-track" }, ...this.ticks(scenes), this.bar);
    const footfall = footfallOf(scenes, span);
    const track = footfall ? element("div", { class: "tailwork-tracks" }, slider, footfall) : slider;
    const row = element("div", { class: "tailwork-transport" }, this.play, track, this.now, this.menu, this.loop);
    this.element = element("div", {}, row, ...(this.events.length ? [this.told] : []));
  }

  /** Marks on the time bar: what happened, and where a run ends before others. */
  private ticks(scenes: readonly Scene[]): HTMLElement[] {
    const { start, end } = this.span;
    const tick = (time: number, text: string, color: string, kind: string) => {
      const mark = element("span", { class: `tailwork-tick ${kind}`, title: text });
      mark.style.setProperty("--at", String((time - start) / (end - start || 1)));
      mark.style.setProperty("--color", color);
      return mark;
    };
    return scenes.flatMap((scene) => {
      const last = scene.times[scene.times.length - 1];
      const marks = scene.events.map(([time, what]) =>
        tick(time, `${fixed(time, this.decimals)} s: ${what}`, scene.color, "event"),
      );
      return last < end ? [...marks, tick(last, `${scene.label} ends`, scene.color, "end")] : marks;
    });
  }

  setTime(time: number): void {
    this.bar.value = String(time);
    const shown = `${fixed(time, this.decimals)} s`;
    this.bar.setAttribute("aria-valuetext", shown);
    this.now.textContent = `${fixed(time, this.decimals)} / ${fixed(this.span.end, this.decimals)} s`;
    const past = this.events.filter((event) => event.time <= time);
    const latest = past[past.length - 1];
    this.told.textContent = latest ? `${fixed(latest.time, this.decimals)} s: ${latest.text}` : "\u00a0";
  }

  setState(playing: boolean, speed: number, loop: boolean): void {
    if (playing !== this.playing) {
      this.playing = playing;
      this.play.replaceChildren(icon(playing ? PAUSE : PLAY));
      this.play.setAttribute("aria-label", playing ? "Pause" : "Play");
      this.play.title = `${playing ? "Pause" : "Play"} (space)`;
    }
    this.menu.value = String(speed);
    this.loop.setAttribute("aria-pressed", String(loop));
  }
}
