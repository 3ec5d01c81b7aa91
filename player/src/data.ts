/** What a page says about its runs, and how it is unpacked. Lengths in m, times in s, z up. */

export type Point = readonly [number, number, number];

export interface Frame {
  name: string;
  places: Float32Array; // x, y, z a sample
  turns: Float32Array; // w, x, y, z a sample
}

export type Shape =
  | { kind: "box"; center: Point; size: Point; axes: readonly [Point, Point, Point] }
  | { kind: "bar"; start: Point; end: Point; radii: readonly [number, number]; rounded: boolean }
  | { kind: "ball"; center: Point; radii: Point }
  | { kind: "surface"; vertices: Float32Array; count: number; faces: readonly number[] };

export interface Solid {
  frame: number;
  shape: Shape;
  color: string;
  role: string;
}

export interface Thread {
  kind: "cable" | "spring";
  name: string;
  points: readonly (readonly [number, Point])[];
  color: string;
  radius: number;
}

export interface Force {
  foot: string;
  frame: number;
  point: Point;
  color: string;
  forces: Float32Array; // N, x, y, z a sample
}

/** When a point touches the ground, and how; in the air in between. */
export interface Phases {
  point: string;
  frame: number;
  place: Point;
  color: string;
  spans: readonly (readonly [number, number, "stick" | "slip"])[]; // from, to [s]
  impulses: readonly (readonly [number, Point])[]; // of impacts: time [s], of the ground on the point [N s]
}

export interface Marker {
  name: string;
  color: string;
  radius: number;
  places: Float32Array;
}

export interface Terrain {
  x: readonly number[];
  y: readonly number[];
  heights: Float32Array; // of (x[i], y[j]) at i · y.length + j
}

export interface Curve {
  name: string;
  color: string;
  dash: number;
  values: Float32Array;
}

export interface Plot {
  key: string;
  title: string;
  unit: string;
  group: string;
  shared: boolean;
  curves: Curve[];
}

export interface Caption {
  robot: string;
  motion: string;
  measures: readonly (readonly [string, string])[];
  notes: readonly string[];
}

export interface Scene {
  label: string;
  color: string;
  forward: "x" | "y";
  weight: number; // N
  size: number; // longest side of the torso
  times: readonly number[];
  frames: Frame[];
  solids: Solid[];
  threads: Thread[];
  forces: Force[];
  phases: Phases[];
  markers: Marker[];
  terrain: Terrain | null;
  plots: Plot[];
  events: readonly (readonly [number, string])[];
  tips: readonly (readonly [string, number, Point])[];
  caption: Caption;
}

export type Layout = "side" | "overlay";

export interface Show {
  layout: Layout;
  dashes: readonly (readonly number[])[]; // lengths of dashes and gaps in line widths, by number of the style
  scenes: Scene[];
}

/** A scene as it is written: an array of samples is the place of its first number among all numbers. */
type Packed<T> = T extends Float32Array
  ? number
  : T extends readonly (infer U)[]
    ? Packed<U>[]
    : T extends object
      ? { [K in keyof T]: Packed<T[K]> }
      : T;

type PackedShow = Packed<Omit<Show, "scenes">> & { scenes: Packed<Scene>[]; floats: string };

/** The numbers of a text in base 64, little-endian, four bytes each. */
export function floatsOf(text: string): Float32Array {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
  return new Float32Array(bytes.buffer);
}

/** The runs that a page holds. */
export function unpacked(text: string): Show {
  const packed = JSON.parse(text) as PackedShow;
  const floats = floatsOf(packed.floats);
  const scenes = packed.scenes.map((scene) => unpackedScene(scene, floats));
  return { layout: packed.layout as Layout, dashes: packed.dashes as number[][], scenes };
}

function unpackedShape(packed: Packed<Shape>, floats: Float32Array): Shape {
  if (packed.kind !== "surface") return packed as unknown as Shape;
  return { ...packed, vertices: floats.subarray(packed.vertices, packed.vertices + 3 * packed.count) };
}

function unpackedScene(packed: Packed<Scene>, floats: Float32Array): Scene {
  const count = packed.times.length;
  const samples = (start: number, width: number) => floats.subarray(start, start + width * count);
  const scene = packed as unknown as Scene;
  const terrain = packed.terrain;
  return {
    ...scene,
    frames: packed.frames.map((frame) => ({
      name: frame.name,
      places: samples(frame.places, 3),
      turns: samples(frame.turns, 4),
    })),
    solids: packed.solids.map((solid, k) => ({ ...scene.solids[k], shape: unpackedShape(solid.shape, floats) })),
    forces: packed.forces.map((force, k) => ({ ...scene.forces[k], forces: samples(force.forces, 3) })),
    markers: packed.markers.map((marker, k) => ({ ...scene.markers[k], places: samples(marker.places, 3) })),
    terrain: terrain && {
      ...scene.terrain!,
      heights: floats.subarray(terrain.heights, terrain.heights + terrain.x.length * terrain.y.length),
    },
    plots: packed.plots.map((plot, k) => ({
      ...scene.plots[k],
      curves: plot.curves.map((curve, j) => ({ ...scene.plots[k].curves[j], values: samples(curve.values, 1) })),
    })),
  };
}
