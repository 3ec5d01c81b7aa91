/** Curves in step with the time bar: groups of plots, a line at the time, and the values there. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { chip } from "./caption.ts";
import type { Show } from "./data.ts";
import { element, lineSample, toggle } from "./dom.ts";
import { panelsOf, type Panel } from "./panels.ts";
import { valueBetween } from "./pose.ts";
import { legible, type Theme } from "./theme.ts";
import { momentAt, type Span } from "./time.ts";
import { decimalsFor, decimalsOf, fixed } from "./units.ts";

const LEAST_HEIGHT = 88;
const MOST_HEIGHT = 380;
const STACKED_HEIGHT = 132; // where the plots stand below the picture
const LINE = 1.6; // px
const ZOOM = 0.1; // the share of the run that is seen in the plots when they are zoomed
/** Least range of an axis in degrees and in degrees a second: less is rounding. */
const LEAST_DEGREES = 0.02;

interface Drawn {
  panel: Panel;
  box: HTMLElement;
  frame: HTMLElement; // holds the plot
  plot: uPlot;
  now: HTMLElement;
  values: HTMLElement[];
  decimals: number;
}

export class Plots {
  readonly element = element("div", { class: "tailwork-plots" });
  readonly groups: string[];
  group: string;
  private readonly panels: Panel[];
  private readonly tabs: HTMLButtonElement[];
  private readonly list = element("div", { class: "tailwork-panels" });
  private drawn: Drawn[] = [];
  private theme: Theme | null = null;
  private time = 0;
  private size = "";
  private zoomed = false;

  constructor(
    private readonly show: Show,
    private readonly span: Span,
    private readonly seek: (time: number) => void,
  ) {
    this.panels = panelsOf(show.scenes);
    this.groups = [...new Set(this.panels.map((panel) => panel.group))];
    this.group = this.groups[0] ?? "";
    this.tabs = this.groups.map((group) => {
      const tab = element("button", { type: "button", title: `Plot ${group}` }, group);
      tab.addEventListener("click", () => this.choose(group));
      return tab;
    });
    if (!this.groups.length) return;
    const zoom = toggle("Zoom", "Plot only the tenth of the run around the time", false, (pressed) => {
      this.zoomed = pressed;
      for (const { plot } of this.drawn) plot.setScale("x", this.window());
    });
    this.element.append(
      element("div", { class: "tailwork-tabs", role: "group", "aria-label": "Plots" }, ...this.tabs, zoom),
      this.list,
    );
    new ResizeObserver(() => this.fit()).observe(this.list);
  }

  choose(group: string): void {
    this.group = group;
    this.draw();
  }

  /** Draw all plots of the group anew in colours of the page. */
  paint(theme: Theme): void {
    this.theme = theme;
    this.draw();
  }

  private draw(): void {
    if (!this.theme) return;
    this.tabs.forEach((tab, k) => tab.setAttribute("aria-pressed", String(this.groups[k] === this.group)));
    for (const { plot } of this.drawn) plot.destroy();
    const shown = this.panels.filter((panel) => panel.group === this.group);
    this.drawn = shown.map((panel, k) => this.drawPanel(panel, shown[k - 1], this.theme!, k + 1 === shown.length));
    this.list.replaceChildren(...this.drawn.map(({ box }) => box));
    this.list.scrollTop = 0;
    this.size = "";
    this.fit();
    this.setTime(this.time);
  }

  private drawPanel(panel: Panel, above: Panel | undefined, theme: Theme, last: boolean): Drawn {
    const bare = above !== undefined && sameLines(panel, above); // names stand once: space is short beside the picture
    const values = panel.lines.map(() => element("span", { class: "tailwork-value" }));
    const legend = panel.lines.map((line, k) => {
      const sample = lineSample(legible(line.color, theme.dark), this.show.dashes[line.dash]);
      const entry = element(
        "button",
        { type: "button", title: `Show or hide ${line.name}`, "aria-pressed": "true" },
        sample,
        bare ? "" : line.name,
        values[k],
      );
      entry.addEventListener("click", () => {
        const shown = entry.getAttribute("aria-pressed") !== "true";
        entry.setAttribute("aria-pressed", String(shown));
        drawn.plot.setSeries(k + 1, { show: shown });
      });
      return entry;
    });
    const whose = panel.scene ? [chip(panel.scene.color), `${panel.scene.label}: `] : [];
    const unit = panel.unit === "1" ? "–" : panel.unit;
    const title = element("h3", {}, ...whose, `${panel.title} [${unit}]`);
    const frame = element("div", { class: "tailwork-plot" });
    const head = element(
      "div",
      { class: "tailwork-head" },
      title,
      element("div", { class: bare ? "tailwork-legend bare" : "tailwork-legend" }, ...legend),
    );
    const box = element("div", { class: "tailwork-panel" }, head, frame);
    const range = rangeOf(panel);
    const now = element("div", { class: "tailwork-now" });
    const plot = new uPlot(
      this.options(panel, theme, range, last),
      [panel.times as number[], ...panel.lines.map((line) => line.values)],
      frame,
    );
    plot.over.append(now);
    plot.hooks.draw = [() => this.placeLine(plot, now)]; // its scales are known only then
    plot.setScale("x", this.window());
    this.listen(plot);
    const drawn = { panel, box, frame, plot, now, values, decimals: decimalsFor(range[1] - range[0]) };
    return drawn;
  }

  private options(panel: Panel, theme: Theme, range: [number, number], last: boolean): uPlot.Options {
    const font = "11px system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif";
    const axis = {
      stroke: theme.soft,
      font,
      grid: { stroke: theme.rule, width: 1 },
      ticks: { stroke: theme.rule, width: 1, size: 4 },
    };
    const labelled = last ? { label: "time [s]", labelSize: 16, labelFont: font, labelGap: 0 } : {};
    return {
      width: 300,
      height: LEAST_HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      padding: [6, 10, 0, 0],
      scales: { x: { time: false, auto: false }, y: { range } },
      axes: [
        { ...axis, size: 24, gap: 4, space: 55, ...labelled },
        { ...axis, size: 50, gap: 4, space: 26, values: (_, ticks) => ticks.map((tick) => tickName(tick, ticks)) },
      ],
      series: [
        {},
        ...panel.lines.map((line) => ({
          stroke: legible(line.color, theme.dark),
          width: LINE,
          dash: this.show.dashes[line.dash].map((length) => length * LINE),
          points: { show: false },
          pxAlign: 0, // smooth curves, not steps of whole pixels
        })),
      ],
    };
  }

  /** A press or a drag in a plot sets the time. */
  private listen(plot: uPlot): void {
    const { over } = plot;
    const to = (event: PointerEvent) =>
      this.seek(plot.posToVal(event.clientX - over.getBoundingClientRect().left, "x"));
    over.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      over.setPointerCapture(event.pointerId);
      to(event);
    });
    over.addEventListener("pointermove", (event) => {
      if (over.hasPointerCapture(event.pointerId)) to(event);
    });
  }

  /** As wide as the page allows; as high as the column does, if all fit. */
  fit(): void {
    const width = Math.floor(this.list.clientWidth);
    const high = this.list.clientHeight;
    const size = `${width} ${high}`;
    if (!width || !this.drawn.length || size === this.size) return;
    this.size = size;
    const others = this.drawn.reduce((sum, { box, frame }) => sum + box.offsetHeight - frame.offsetHeight, 0);
    const share = Math.floor((high - others) / this.drawn.length) - 4;
    const beside = getComputedStyle(this.list).overflowY !== "visible"; // the column has a height of its own
    const height = beside ? Math.min(Math.max(share, LEAST_HEIGHT), MOST_HEIGHT) : STACKED_HEIGHT;
    for (const { plot } of this.drawn) plot.setSize({ width, height });
    this.setTime(this.time);
  }

  setTime(time: number): void {
    this.time = time;
    for (const { panel, plot, now, values, decimals } of this.drawn) {
      if (this.zoomed) plot.setScale("x", this.window());
      this.placeLine(plot, now);
      const moment = momentAt(panel.times, time);
      panel.lines.forEach((line, k) => (values[k].textContent = fixed(valueBetween(line.values, moment), decimals)));
    }
  }

  /** The times that are plotted. */
  private window(): { min: number; max: number } {
    const { start, end } = this.span;
    if (!(end > start)) return { min: start - 0.5, max: start + 0.5 };
    if (!this.zoomed) return { min: start, max: end };
    const width = ZOOM * (end - start);
    const min = Math.min(Math.max(this.time - width / 2, start), end - width);
    return { min, max: min + width };
  }

  private placeLine(plot: uPlot, now: HTMLElement): void {
    now.style.transform = `translateX(${plot.valToPos(this.time, "x")}px)`;
  }

  /** The time at which the line of the first plot stands. */
  cursor(): number | null {
    const [first] = this.drawn;
    return first ? first.plot.posToVal(new DOMMatrix(getComputedStyle(first.now).transform).m41, "x") : null;
  }
}

/** Whether two panels of all runs have the same names in the same colours. */
function sameLines(one: Panel, other: Panel): boolean {
  const looks = ({ lines }: Panel) => JSON.stringify(lines.map(({ name, color, dash }) => [name, color, dash]));
  return one.scene === null && other.scene === null && looks(one) === looks(other);
}

/** Of the axis of a panel: all values and some room. */
function rangeOf({ lines, unit }: Panel): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const line of lines) {
    for (const value of line.values) if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
  }
  if (low > high) return [0, 1];
  const least = unit.startsWith("°") ? LEAST_DEGREES : 1e-6 * Math.max(Math.abs(low), Math.abs(high)) || 1;
  const room = Math.max(0.08 * (high - low), (least - (high - low)) / 2);
  return [low - room, high + room];
}

/** As many decimals as the ticks need. */
function tickName(tick: number, ticks: readonly number[]): string {
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : Math.abs(tick) || 1;
  return fixed(tick, decimalsOf(step));
}
