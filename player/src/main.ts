/** Finds the players of a page and starts each when it comes into sight. */

import "./player.css";
import { unpacked } from "./data.ts";
import { Player, type State } from "./player.ts";

/** A look at a player from outside; null: it has not been in sight yet. */
interface Handle {
  state(): State | null;
}

const handles: Handle[] = [];
const started = new Map<Element, { handle: Handle; close(): void }>();

/**
 * Start all players of the page that have not been started, and close those whose place in the page is gone.
 * `kept`: how a player was set whose place a new one takes.
 */
function mount(kept: State | null = null): void {
  for (const [root, { handle, close }] of started) {
    if (root.isConnected) continue;
    close();
    started.delete(root);
    handles.splice(handles.indexOf(handle), 1);
  }
  for (const root of document.querySelectorAll<HTMLElement>("[data-tailwork]")) {
    if (started.has(root)) continue;
    let player: Player | null = null;
    const handle = Object.freeze({ state: () => player && player.state() });
    handles.push(handle);
    const watch = new IntersectionObserver(
      (entries) => {
        if (player || !entries.some((entry) => entry.isIntersecting)) return;
        watch.disconnect();
        const data = root.querySelector("script")!;
        player = new Player(root, unpacked(data.textContent ?? ""), root.dataset.tailwork === "page", kept);
        data.remove();
      },
      { rootMargin: "200px" },
    );
    const close = () => {
      watch.disconnect();
      player?.close();
    };
    started.set(root, { handle, close });
    watch.observe(root);
  }
}

declare global {
  interface Window {
    tailwork: Readonly<{ players: readonly Handle[]; mount: (kept?: State | null) => void }>;
  }
}

if (!window.tailwork) {
  window.tailwork = Object.freeze({ players: handles, mount });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => mount());
  else mount();
}
