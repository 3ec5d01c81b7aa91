/** Colours of the page, light or dark, as its style sheet has them. */

export interface Theme {
  dark: boolean;
  paper: string;
  ink: string;
  soft: string;
  rule: string;
  sky: string; // behind the robot
  grid: string;
  ground: string; // of hilly ground
}

const DARK = "(prefers-color-scheme: dark)";

export function themeOf(root: HTMLElement): Theme {
  const style = getComputedStyle(root);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    dark: parseInt(color("paper").slice(1, 3), 16) < 0x80,
    paper: color("paper"),
    ink: color("ink"),
    soft: color("soft"),
    rule: color("rule"),
    sky: color("sky"),
    grid: color("grid"),
    ground: color("ground"),
  };
}

/** Calls back when the browser's setting changes, or what the page itself says with `data-theme`. */
export function onThemeChange(told: () => void, signal: AbortSignal): void {
  matchMedia(DARK).addEventListener("change", told, { signal });
  const watch = new MutationObserver(told);
  watch.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  signal.addEventListener("abort", () => watch.disconnect());
}

/** A colour for a line on the paper: the colour itself, or a lighter one where it could not be seen on dark paper. */
export function legible(color: string, dark: boolean): string {
  if (!dark) return color;
  const channels = [1, 3, 5].map((k) => parseInt(color.slice(k, k + 2), 16));
  const [r, g, b] = channels;
  const light = (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
  const share = Math.min(Math.max((0.32 - light) * 2.5, 0), 0.6);
  return `#${channels
    .map((x) =>
      Math.round(x + share * (255 - x))
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}
