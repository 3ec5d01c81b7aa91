/** Numbers and units as people read them. */

/** Units that take a prefix; others stand as they are. */
const PREFIXED = new Set(["N", "N m", "N s"]);
const PREFIXES: readonly (readonly [string, number])[] = [
  ["k", 1e3],
  ["", 1],
  ["m", 1e-3],
  ["µ", 1e-6],
  ["n", 1e-9],
];

/** A unit with the prefix that suits numbers up to `largest`, and what a number is divided by. */
export function prefixed(unit: string, largest: number): { unit: string; by: number } {
  if (!PREFIXED.has(unit) || !(largest > 0) || largest >= 0.1) return { unit, by: 1 };
  const [prefix, by] = PREFIXES.find(([, size]) => largest >= size) ?? PREFIXES[PREFIXES.length - 1];
  return { unit: prefix + unit, by };
}

/** A number with that many decimals, a true minus sign, and no "−0". */
export function fixed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return "–";
  const text = value.toFixed(decimals);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

/** How many decimals make three digits of numbers that span so much. */
export function decimalsFor(span: number): number {
  return span > 0 ? Math.min(Math.max(2 - Math.floor(Math.log10(span)), 0), 6) : 2;
}

/** How many decimals a step between ticks needs to be told in full: 1 of 2.5, 2 of 0.25. */
export function decimalsOf(step: number): number {
  for (let decimals = 0; decimals < 6; decimals++) {
    const scaled = step * 10 ** decimals;
    if (Math.abs(scaled - Math.round(scaled)) < 1e-6 * scaled) return decimals;
  }
  return 6;
}

/** The largest of 1, 2, 5, 10, … (times powers of ten) that is at most x. */
export function roundBelow(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x) + 1e-9);
  return power * ([5, 2].find((digit) => digit * power <= x * (1 + 1e-9)) ?? 1);
}

/** A length [m] with a unit that suits it. */
export function lengthName(meters: number): string {
  const shown = (value: number) => String(Number(value.toPrecision(3)));
  if (meters >= 1) return `${shown(meters)} m`;
  return meters >= 0.01 ? `${shown(meters * 100)} cm` : `${shown(meters * 1000)} mm`;
}

/** A number in a unit, with the prefix that suits it. */
export function amount(value: number, plain: string, digits = 3): string {
  const { unit, by } = prefixed(plain, value);
  return `${Number((value / by).toPrecision(digits))} ${unit}`.replaceAll(" ", "\u00a0");
}
