/** Finds the players of a page and starts each when it comes into sight. */

import "./player.css";
import { unpacked } from "./data.ts";
import { Player, type State } from "./player.ts";

/** A look at a player from outside; null: it has not been in sight yet. */
interface Handle {
  state(): State | null;
}

const handles: Handle[] = [];
const started = new WeakSet<Element>();

/** Start all players of the page that have not been started. */
function mount(): void {
  const roots = [...document.querySelectorAll<HTMLElement>("[data-tailwork]")];
  for (const root of roots) {
    if (started.has(root)) continue;
    started.add(root);
    let player: Player | null = null;
    handles.push(Object.freeze({ state: () => player && player.state() }));
    const watch = new IntersectionObserver(
      (entries) => {
        if (player || !entries.some((entry) => entry.isIntersecting)) return;
        watch.disconnect();
        const data = root.querySelector("script")!;
        player = new Player(root, unpacked(data.textContent ?? ""), root.dataset.tailwork === "page");
        data.remove();
      },
      { rootMargin: "200px" },
    );
    watch.observe(root);
  }
}

declare global {
  interface Window {
    tailwork: Readonly<{ players: readonly Handle[]; mount: () => void }>;
  }
}

if (!window.tailwork) {
  window.tailwork = Object.freeze({ players: handles, mount });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", mount);
  else mount();
}
