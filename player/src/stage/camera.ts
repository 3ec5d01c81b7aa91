/** From where the robot is seen, and from how far. */

import type { Scene } from "../data.ts";
import { between, placed, turnBetween } from "../pose.ts";
import { skeleton } from "./shapes.ts";

export type Vector = [number, number, number];

export const VIEWS = ["three-quarter", "side", "rear", "top"] as const;
export type ViewName = (typeof VIEWS)[number];

/** From the robot towards the eye: parts backward, to the right, up. */
const DIRECTIONS: Record<ViewName, Vector> = {
  "three-quarter": [0.72, 0.78, 0.52],
  side: [0, 1, 0.14],
  rear: [1, 0, 0.2],
  top: [0.02, 0, 1],
};

/** Unit vector from the robot towards the eye, by where the torso looks at the start. */
export function directionOf(scene: Scene, view: ViewName): Vector {
  const turn = turnBetween(scene.frames[0].turns, { index: 0, share: 0 }, []);
  const [x, y] = placed(turn, [0, 0, 0], scene.forward === "x" ? [1, 0, 0] : [0, 1, 0]);
  const flat = Math.hypot(x, y) || 1;
  const [fx, fy] = [x / flat, y / flat];
  const [back, right, up] = DIRECTIONS[view];
  const [a, b, c] = [-back * fx + right * fy, -back * fy - right * fx, up];
  const length = Math.hypot(a, b, c);
  return [a / length, b / length, c / length];
}

const LOOKS = 24; // moments that a robot's way is looked at

/** Points that the robot reaches in its run; if followed, less how far its torso has gone over the ground. */
export function reached(scene: Scene, follow: boolean): Vector[] {
  const found: Vector[] = [];
  const last = scene.times.length - 1;
  const start = scene.frames[0].places;
  for (let k = 0; k <= LOOKS; k++) {
    const moment = { index: Math.round((k * last) / LOOKS), share: 0 };
    const torso = between(scene.frames[0].places, 3, moment, []);
    const [dx, dy] = follow ? [torso[0] - start[0], torso[1] - start[1]] : [0, 0];
    for (const { shape, frame } of scene.solids) {
      const place = between(scene.frames[frame].places, 3, moment, []);
      const turn = turnBetween(scene.frames[frame].turns, moment, []);
      const { points, reach } = skeleton(shape);
      for (const point of points) {
        const [x, y, z] = placed(turn, place, point);
        for (const side of reach ? [-reach, reach] : [0]) found.push([x - dx + side, y - dy + side, z + side]);
      }
    }
  }
  return found;
}

/** A robot that goes farther than so many times its torso's length walks, and is followed at first. */
const FAR = 1.0;

/** Whether a robot leaves its place. */
export function walks(scenes: readonly Scene[]): boolean {
  return scenes.some((scene) => travelled(scene) > FAR * scene.size);
}

/** How far the torso goes over the ground at most. */
function travelled(scene: Scene): number {
  const { places } = scene.frames[0];
  let most = 0;
  for (let k = 0; k < places.length; k += 3)
    most = Math.max(most, Math.hypot(places[k] - places[0], places[k + 1] - places[1]));
  return most;
}

export interface Ball {
  center: Vector;
  radius: number;
}

/** The middle of points, and how far they are from it. */
export function ballAround(points: readonly Vector[]): Ball {
  const sides = [0, 1, 2].map((axis) => {
    let [low, high] = [Infinity, -Infinity];
    for (const point of points) [low, high] = [Math.min(low, point[axis]), Math.max(high, point[axis])];
    return (low + high) / 2;
  });
  const center: Vector = [sides[0], sides[1], sides[2]];
  let radius = 0;
  for (const p of points) radius = Math.max(radius, Math.hypot(p[0] - center[0], p[1] - center[1], p[2] - center[2]));
  return { center, radius };
}

/**
 * How far from the center the eye must be to see all points.
 * `upright`: the angle of view [rad]; `aspect`: width over height.
 */
export function distanceFor(
  points: readonly Vector[],
  center: Vector,
  direction: Vector,
  upright: number,
  aspect: number,
): number {
  const [dx, dy, dz] = direction;
  const flat = Math.hypot(dx, dy) || 1;
  const right: Vector = [-dy / flat, dx / flat, 0];
  const up: Vector = [dy * right[2] - dz * right[1], dz * right[0] - dx * right[2], dx * right[1] - dy * right[0]];
  const high = Math.tan(upright / 2);
  let distance = 0;
  for (const point of points) {
    const [x, y, z] = [0, 1, 2].map((axis) => point[axis] - center[axis]);
    const along = (v: Vector) => Math.abs(x * v[0] + y * v[1] + z * v[2]);
    const toward = x * dx + y * dy + z * dz;
    distance = Math.max(distance, toward + along(up) / high, toward + along(right) / (high * aspect));
  }
  return distance;
}

/** How many columns and rows show so many robots largest. */
export function arranged(count: number, width: number, height: number): { columns: number; rows: number } {
  const shape = 1.25; // of a robot: width over height
  let best = { columns: count, rows: 1, size: 0 };
  for (let columns = 1; columns <= count; columns++) {
    const rows = Math.ceil(count / columns);
    const size = Math.min(width / columns / shape, height / rows);
    if (size > best.size * 1.001) best = { columns, rows, size };
  }
  return { columns: best.columns, rows: best.rows };
}
