/** A player: the robots in 3D, their curves, and one clock for both. */

import { captionOf } from "./caption.ts";
import type { Layout, Scene, Show } from "./data.ts";
import { element } from "./dom.ts";
import { actionOf } from "./keys.ts";
import { Labels } from "./labels.ts";
import { pictureOf, scaleOf } from "./picture.ts";
import { Plots } from "./plots.ts";
import type { Kind } from "./stage/actor.ts";
import { walks, type Vector, type ViewName } from "./stage/camera.ts";
import { Stage } from "./stage/stage.ts";
import { studio } from "./stage/studio.ts";
import { Switches } from "./switches.ts";
import { onThemeChange, themeOf } from "./theme.ts";
import { linkedTime, nextSpeed, spanOf, speedFor, stepped, ticked, within, type Clock, type Span } from "./time.ts";
import { Transport } from "./transport.ts";

const LONGEST_TICK = 0.1; // s; after a pause of the page the clock does not jump

/** What a player shows now, for programs that look at it. */
export interface State {
  time: number; // as drawn [s]
  start: number;
  end: number;
  playing: boolean;
  speed: number;
  loop: boolean;
  layout: Layout;
  follow: boolean;
  shown: Record<Kind, boolean>;
  group: string; // of the plots
  cursor: number | null; // where the line in the plots stands [s]
  tips: { run: string; limb: string; place: [number, number, number] }[] | null; // null: no 3D here
  eye: [Vector, Vector] | null; // where a hand has put the camera, and where it looks
}

export class Player {
  private readonly scenes: readonly Scene[];
  private readonly span: Span;
  private readonly stage: Stage | null;
  private readonly plots: Plots;
  private readonly transport: Transport;
  private readonly labels: Labels;
  private readonly switches: Switches | null;
  private readonly leader: Scene; // the run of the most samples: its frames are stepped through
  private readonly shown: Record<Kind, boolean> = { forces: true, traces: true, threads: true, masses: true };
  private clock: Clock;
  private drawnTime: number;
  private speed: number;
  private loop: boolean;
  private layout: Layout;
  private follow: boolean;
  private inSight = false;
  private asked = 0;
  private lastTick: number | null = null;
  private readonly closing = new AbortController();

  /**
   * `whole`: the page is its own, and it plays by itself and hears every key.
   * `kept`: how another player, whose place this one takes, was set; null: as usual.
   */
  constructor(
    private readonly root: HTMLElement,
    show: Show,
    private readonly whole: boolean,
    kept: State | null = null,
  ) {
    this.scenes = show.scenes;
    this.layout = kept?.layout ?? show.layout;
    this.loop = kept?.loop ?? true;
    Object.assign(this.shown, kept?.shown);
    this.span = spanOf(this.scenes);
    this.leader = this.scenes.reduce((best, scene) => (scene.times.length > best.times.length ? scene : best));
    this.speed = kept?.speed ?? speedFor(this.span.end - this.span.start);
    this.follow = walks(this.scenes);
    this.clock = {
      time: this.span.start,
      rest: 0,
      playing: kept?.playing ?? (whole && !matchMedia("(prefers-reduced-motion: reduce)").matches),
    };
    this.drawnTime = this.span.start;
    if (whole && !kept) this.goToLink();
    this.plots = new Plots(show, this.span, (time) => this.seek(time));
    this.transport = new Transport(this.scenes, this.span, {
      play: () => this.togglePlay(),
      seek: (time) => this.seek(time),
      speed: (speed) => this.setSpeed(speed),
      loop: () => this.setLoop(!this.loop),
    });
    this.labels = new Labels(this.scenes);
    const lights = studio();
    this.stage = lights && new Stage(lights, this.scenes, () => this.ask(), this.closing.signal);
    this.stage?.gestures(whole);
    this.stage?.arrange(this.layout, this.follow);
    this.switches = this.stage && this.switchesOf(this.stage);
    for (const kind of Object.keys(this.shown) as Kind[]) this.stage?.show(kind, this.shown[kind]);
    if (kept?.eye) this.stage?.lookFrom(kept.eye);
    if (kept && this.plots.groups.includes(kept.group)) this.plots.choose(kept.group);
    this.build();
    this.listen();
    this.repaint();
  }

  state(): State {
    const { start, end } = this.span;
    return {
      time: this.drawnTime,
      start,
      end,
      playing: this.clock.playing,
      speed: this.speed,
      loop: this.loop,
      layout: this.layout,
      follow: this.follow,
      shown: { ...this.shown },
      group: this.plots.group,
      cursor: this.plots.cursor(),
      tips: this.stage && this.stage.tips(),
      eye: this.stage && this.stage.eye(),
    };
  }

  /** Its place in the page is gone: hear nothing more, and give back what it holds. */
  close(): void {
    this.closing.abort();
    cancelAnimationFrame(this.asked);
    this.stage?.close();
  }

  private switchesOf(stage: Stage): Switches {
    const first = { overlay: this.layout === "overlay", follow: this.follow, shown: this.shown };
    return new Switches(this.scenes, first, {
      show: (kind, shown) => {
        this.shown[kind] = shown;
        stage.show(kind, shown);
        this.ask();
      },
      overlay: (overlaid) => this.arrange(overlaid ? "overlay" : "side", this.follow),
      follow: (followed) => this.arrange(this.layout, followed),
      look: (view) => this.look(view),
      reset: () => this.reset(),
    });
  }

  private build(): void {
    const { stage, scenes } = this;
    const left = element("div", { class: "tailwork-stage" }, pictureOf(scenes, stage, this.labels));
    if (stage) left.append(scaleOf(scenes, stage));
    left.append(this.transport.element);
    if (this.switches) left.append(this.switches.element);
    const main = element("div", { class: "tailwork-main" }, left);
    if (this.plots.groups.length) main.append(this.plots.element);
    else main.classList.add("tailwork-bare");
    this.root.append(main, captionOf(scenes, !this.whole));
  }

  private listen(): void {
    const { signal } = this.closing;
    onThemeChange(() => this.repaint(), signal);
    if (this.whole) window.addEventListener("hashchange", () => (this.goToLink(), this.ask()), { signal });
    const hearing = this.whole ? document : this.root;
    hearing.addEventListener("keydown", (event) => this.onKey(event as KeyboardEvent), { signal });
    // A button that was clicked does not keep the space bar for itself.
    this.root.addEventListener("click", (event) => {
      if (event.detail > 0 && event.target instanceof Element && event.target.closest("button"))
        this.root.focus({ preventScroll: true });
    });
    new IntersectionObserver(([entry]) => {
      this.inSight = entry.isIntersecting;
      if (this.inSight) this.ask();
      else this.stage?.release();
    }).observe(this.root);
    document.addEventListener("visibilitychange", () => this.ask(), { signal });
    const { stage } = this;
    if (!stage) return;
    new ResizeObserver(() => this.ask()).observe(stage.canvas);
    if (this.whole) return;
    document.addEventListener("pointerdown", (event) => stage.gestures(event.target === stage.canvas), {
      capture: true,
      signal,
    });
  }

  private onKey(event: KeyboardEvent): void {
    const action = actionOf(event);
    const { target } = event;
    const onButton = target instanceof HTMLButtonElement && action === "play"; // it is pressed by the space bar itself
    const typing =
      target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && target.type !== "range");
    const scrolls = target instanceof Element && target.closest(".tailwork-table, .tailwork-legend") !== null;
    if (!action || onButton || typing || scrolls || event.defaultPrevented) return;
    event.preventDefault();
    if (action === "play") this.togglePlay();
    else if (action === "home") this.seek(this.span.start);
    else if (action === "end") this.seek(this.span.end);
    else if (action === "faster" || action === "slower")
      this.setSpeed(nextSpeed(this.speed, action === "faster" ? 1 : -1));
    else this.pauseAt(stepped(this.leader.times, this.clock.time, action.frames));
  }

  private togglePlay(): void {
    const atEnd = this.clock.time >= this.span.end;
    const time = !this.clock.playing && atEnd ? this.span.start : this.clock.time;
    this.clock = { time, rest: 0, playing: !this.clock.playing };
    this.ask();
  }

  private seek(time: number): void {
    this.clock = { ...this.clock, time: within(this.span, time), rest: 0 };
    this.ask();
  }

  /** Stand still at the time that the page's address names, if any: "page.html#t=0.25". */
  private goToLink(): void {
    const time = linkedTime(location.hash);
    if (time !== null) this.clock = { time: within(this.span, time), rest: 0, playing: false };
  }

  private pauseAt(time: number): void {
    this.clock = { time, rest: 0, playing: false };
    this.ask();
  }

  private setSpeed(speed: number): void {
    this.speed = speed;
    this.ask();
  }

  private setLoop(loop: boolean): void {
    this.loop = loop;
    this.ask();
  }

  private arrange(layout: Layout, follow: boolean): void {
    this.layout = layout;
    this.follow = follow;
    this.stage?.arrange(layout, follow);
    this.ask();
  }

  private look(view: ViewName): void {
    this.stage?.look(view);
    this.ask();
  }

  private reset(): void {
    this.pauseAt(this.span.start);
    this.setSpeed(speedFor(this.span.end - this.span.start));
    const follow = walks(this.scenes);
    this.switches?.setFollow(follow);
    this.arrange(this.layout, follow);
    this.look("three-quarter");
  }

  private repaint(): void {
    const theme = themeOf(this.root);
    this.stage?.paint(theme);
    this.plots.paint(theme);
    this.ask();
  }

  /** Draw soon, if not already asked to. */
  private ask(): void {
    if (!this.asked && !document.hidden) this.asked = requestAnimationFrame((now) => this.tick(now));
  }

  private tick(now: number): void {
    this.asked = 0;
    const elapsed = this.lastTick === null ? 0 : Math.min((now - this.lastTick) / 1000, LONGEST_TICK);
    this.clock = ticked(this.clock, elapsed, this.speed, this.span, this.loop);
    this.drawAt(this.clock.time);
    const goesOn = this.clock.playing && this.inSight;
    this.lastTick = goesOn ? now : null;
    if (goesOn) this.ask();
  }

  private drawAt(time: number): void {
    this.drawnTime = time;
    this.transport.setTime(time);
    this.transport.setState(this.clock.playing, this.speed, this.loop);
    this.plots.setTime(time);
    this.labels.setTime(time, this.span.end);
    const { stage } = this;
    if (!stage || !this.inSight) return;
    stage.resize();
    const { width, height } = stage.canvas;
    this.labels.place(
      stage.cells().map((cell) => ({ left: cell.left / width, top: cell.top / height, width: cell.width / width })),
    );
    this.labels.note(stage.draw(time));
  }
}
