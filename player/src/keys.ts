/** What a key does. */

export type Action = "play" | "home" | "end" | "faster" | "slower" | { frames: number };

export interface Key {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
}

export function actionOf(event: Key): Action | null {
  if (event.ctrlKey || event.altKey || event.metaKey) return null;
  const frames = event.shiftKey ? 10 : 1;
  switch (event.key) {
    case " ":
      return "play";
    case "ArrowLeft":
      return { frames: -frames };
    case "ArrowRight":
      return { frames };
    case "ArrowUp":
      return "faster";
    case "ArrowDown":
      return "slower";
    case "Home":
      return "home";
    case "End":
      return "end";
    default:
      return null;
  }
}
