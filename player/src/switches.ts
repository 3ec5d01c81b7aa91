/** Buttons for what is shown, and from where. */

import type { Scene } from "./data.ts";
import { element, toggle } from "./dom.ts";
import type { Kind } from "./stage/actor.ts";
import { VIEWS, walks, type ViewName } from "./stage/camera.ts";

const VIEW_NAMES: Record<ViewName, string> = { "three-quarter": "3/4", side: "Side", rear: "Rear", top: "Top" };

export interface SwitchWishes {
  show(kind: Kind, shown: boolean): void;
  overlay(overlaid: boolean): void;
  follow(followed: boolean): void;
  look(view: ViewName): void;
  reset(): void;
}

export class Switches {
  readonly element: HTMLElement;
  private readonly follow: HTMLButtonElement;

  constructor(
    scenes: readonly Scene[],
    first: { overlay: boolean; follow: boolean; shown: Record<Kind, boolean> },
    wishes: SwitchWishes,
  ) {
    this.follow = toggle("Follow", "The camera goes with the robot", first.follow, wishes.follow);
    const shown = kindsIn(scenes).map(({ kind, label, title }) =>
      toggle(label, title, first.shown[kind], (pressed) => wishes.show(kind, pressed)),
    );
    if (walks(scenes)) shown.push(this.follow);
    if (scenes.length > 1) shown.push(toggle("Overlay", "All robots in the same place", first.overlay, wishes.overlay));
    const views = VIEWS.map((view) => pushButton(VIEW_NAMES[view], `Seen from: ${view}`, () => wishes.look(view)));
    const reset = pushButton("Reset", "Back to the start, seen as at first", wishes.reset);
    this.element = element(
      "div",
      { class: "tailwork-switches" },
      element("div", { role: "group", "aria-label": "Shown" }, ...shown),
      element("div", { role: "group", "aria-label": "View" }, ...views, reset),
    );
  }

  setFollow(followed: boolean): void {
    this.follow.setAttribute("aria-pressed", String(followed));
  }
}

function pushButton(label: string, title: string, told: () => void): HTMLButtonElement {
  const button = element("button", { type: "button", title }, label);
  button.addEventListener("click", told);
  return button;
}

/** What there is to be shown or not. */
function kindsIn(scenes: readonly Scene[]): { kind: Kind; label: string; title: string }[] {
  const found: { kind: Kind; label: string; title: string }[] = [];
  if (scenes.some((scene) => scene.forces.length)) {
    found.push({
      kind: "forces",
      label: "Forces",
      title: "Forces of the ground on the feet; red: the foot would pull. Balls: it sticks (blue) or slips (orange). Impulses of impacts",
    });
  }
  if (scenes.some((scene) => scene.markers.length)) {
    found.push({ kind: "traces", label: "Traces", title: "Ways of the centres of mass" });
    found.push({
      kind: "masses",
      label: "Masses",
      title: "Centres of mass: yellow of the whole robot, dark of its tail",
    });
  }
  const threads = new Set(scenes.flatMap((scene) => scene.threads.map((thread) => thread.kind)));
  if (threads.size) {
    const label = threads.size > 1 ? "Cables and springs" : threads.has("cable") ? "Cables" : "Springs";
    found.push({ kind: "threads", label, title: "Cables and springs of the tail" });
  }
  return found;
}
