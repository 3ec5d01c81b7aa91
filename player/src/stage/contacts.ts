/** Where the robot touches the ground: a ball on each point, blue where it sticks, orange where it slips (as in `view/scene/colors.py`). */

import { Group, Mesh, MeshBasicMaterial, Object3D, SphereGeometry } from "three";
import type { Phases, Scene } from "../data.ts";
import { placeOn } from "./arrows.ts";

export const STICKS = "#0072b2";
export const SLIPS = "#e69f00";
const SPHERE = new SphereGeometry(1, 20, 14);

/** What a point does at a time; null: it is in the air. */
export function stateAt({ spans }: Phases, time: number): "stick" | "slip" | null {
  const span = spans.find(([start, end]) => start <= time && time <= end);
  return span ? span[2] : null;
}

export class Contacts {
  readonly group = new Group();
  private readonly dots: { phases: Phases; mesh: Mesh; material: MeshBasicMaterial }[];

  constructor(
    scene: Scene,
    private readonly frames: readonly Object3D[],
  ) {
    this.dots = scene.phases.map((phases) => {
      const material = new MeshBasicMaterial({ transparent: true, opacity: 0.7 });
      const mesh = new Mesh(SPHERE, material);
      mesh.scale.setScalar(0.045 * scene.size);
      this.group.add(mesh);
      return { phases, mesh, material };
    });
  }

  update(time: number): void {
    for (const { phases, mesh, material } of this.dots) {
      const state = stateAt(phases, time);
      mesh.visible = state !== null;
      if (state === null) continue;
      material.color.set(state === "stick" ? STICKS : SLIPS);
      mesh.position.copy(placeOn(this.frames[phases.frame], phases.place));
    }
  }
}
