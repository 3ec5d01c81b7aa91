/** Impulses of impacts: an arrow that flashes at the point, with its size beside it. */

import { Group, MeshBasicMaterial, type Object3D, Vector3 } from "three";
import type { Phases, Point, Scene } from "../data.ts";
import { amount } from "../units.ts";
import { ArrowShape, placeOn } from "./arrows.ts";

export const IMPULSE = "#c2188f";
/** How long a flash takes, as a share of the run; less where the next impulse of the point comes sooner. */
const FLASH = 0.045;

function sizeOf(impulse: Point): number {
  return Math.hypot(...impulse);
}

export function impulseName(impulse: Point): string {
  return amount(sizeOf(impulse), "N s", 2);
}

/** The largest of runs [N s]; 0: there is none. */
export function largestImpulse(scenes: readonly Scene[]): number {
  return Math.max(0, ...scenes.flatMap(({ phases }) => phases.flatMap((own) => own.impulses.map(([, p]) => sizeOf(p)))));
}

/** The impulse that flashes at a time, and how much of its flash is over. */
export function flashAt({ impulses }: Phases, time: number, duration: number): { impulse: Point; over: number } | null {
  let last: readonly [number, Point] | null = null;
  for (const own of impulses) if (own[0] <= time) last = own;
  const over = last ? (time - last[0]) / (FLASH * duration) : 1;
  return last && over < 1 ? { impulse: last[1], over } : null;
}

/** A text at a place of the stage. */
export interface Note {
  text: string;
  place: Vector3;
}

export class Impulses {
  readonly group = new Group();
  notes: Note[] = [];
  private readonly arrows: { phases: Phases; arrow: ArrowShape; material: MeshBasicMaterial }[];
  private readonly duration: number;

  /** `unit`: the length of an arrow of 1 N s [m]. */
  constructor(
    private readonly scene: Scene,
    private readonly frames: readonly Object3D[],
    private readonly unit: number,
  ) {
    this.duration = scene.times[scene.times.length - 1] - scene.times[0];
    this.arrows = scene.phases
      .filter((phases) => phases.impulses.length)
      .map((phases) => {
        const material = new MeshBasicMaterial({ color: IMPULSE, transparent: true });
        const arrow = new ArrowShape(material);
        this.group.add(arrow.group);
        return { phases, arrow, material };
      });
  }

  update(time: number): void {
    const along = new Vector3();
    this.notes = [];
    for (const { phases, arrow, material } of this.arrows) {
      const flash = flashAt(phases, time, this.duration);
      arrow.group.visible = flash !== null;
      if (!flash) continue;
      const from = placeOn(this.frames[phases.frame], phases.place);
      along.set(...flash.impulse).multiplyScalar(this.unit);
      arrow.set(from, along, 0.035 * this.scene.size);
      material.opacity = 1 - 0.75 * flash.over;
      this.notes.push({ text: impulseName(flash.impulse), place: from.add(along) });
    }
  }
}
