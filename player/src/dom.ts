/** Elements in one expression. */

type Child = Node | string;

/** An element with attributes; those that are true stand empty, those that are false do not stand. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | boolean> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/** A button that is on or off. */
export function toggle(
  label: string,
  title: string,
  pressed: boolean,
  told: (pressed: boolean) => void,
): HTMLButtonElement {
  const button = element("button", { type: "button", title, "aria-pressed": String(pressed) }, label);
  button.addEventListener("click", () => {
    const now = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(now));
    told(now);
  });
  return button;
}

const SVG = "http://www.w3.org/2000/svg";

/** A drawing of 16 × 16 made of one path. */
export function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const drawn = document.createElementNS(SVG, "path");
  drawn.setAttribute("d", path);
  svg.append(drawn);
  return svg;
}

/** A sample of a line: its colour and its dashes, in line widths. */
export function lineSample(color: string, dashes: readonly number[]): SVGSVGElement {
  const width = 1.8;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 20 6");
  svg.setAttribute("preserveAspectRatio", "xMinYMid slice"); // shorter where room is short, not thinner
  svg.setAttribute("class", "tailwork-sample");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", "M0 3H20");
  line.setAttribute("stroke", color);
  line.setAttribute("stroke-width", String(width));
  line.setAttribute("stroke-dasharray", dashes.map((length) => length * width).join(" "));
  svg.append(line);
  return svg;
}
