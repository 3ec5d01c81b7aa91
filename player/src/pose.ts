/** Between two samples: places on a straight line, turns about a fixed axis at a constant rate. */

import type { Moment } from "./time.ts";

/** The numbers of a row of a series between two samples, linearly. */
export function between(series: Float32Array, width: number, { index, share }: Moment, out: number[]): number[] {
  const first = index * width;
  const next = share > 0 ? first + width : first;
  for (let k = 0; k < width; k++) out[k] = series[first + k] + share * (series[next + k] - series[first + k]);
  return out;
}

/** The unit quaternion (w, x, y, z) between two samples. */
export function turnBetween(turns: Float32Array, { index, share }: Moment, out: number[]): number[] {
  const first = index * 4;
  const next = share > 0 ? first + 4 : first;
  let cosine = 0;
  for (let k = 0; k < 4; k++) cosine += turns[first + k] * turns[next + k];
  const sign = cosine < 0 ? -1 : 1;
  const angle = Math.acos(Math.min(Math.abs(cosine), 1));
  const sine = Math.sin(angle);
  const [a, b] =
    sine < 1e-6 ? [1 - share, share] : [Math.sin((1 - share) * angle) / sine, Math.sin(share * angle) / sine];
  let square = 0;
  for (let k = 0; k < 4; k++) {
    out[k] = a * turns[first + k] + sign * b * turns[next + k];
    square += out[k] * out[k];
  }
  const length = Math.sqrt(square);
  for (let k = 0; k < 4; k++) out[k] /= length;
  return out;
}

/** A value of a curve between two samples; not a number next to a gap. */
export function valueBetween(values: ArrayLike<number | null>, { index, share }: Moment): number {
  const first = values[index] ?? NaN;
  return share > 0 ? first + share * ((values[index + 1] ?? NaN) - first) : first;
}

/** A point of a frame (x, y, z) after a turn (w, x, y, z) and a shift. */
export function placed(
  turn: readonly number[],
  place: readonly number[],
  point: readonly number[],
): [number, number, number] {
  const [w, x, y, z] = turn;
  const [px, py, pz] = point;
  const tx = 2 * (y * pz - z * py);
  const ty = 2 * (z * px - x * pz);
  const tz = 2 * (x * py - y * px);
  return [
    place[0] + px + w * tx + (y * tz - z * ty),
    place[1] + py + w * ty + (z * tx - x * tz),
    place[2] + pz + w * tz + (x * ty - y * tx),
  ];
}
