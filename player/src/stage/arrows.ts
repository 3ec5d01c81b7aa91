/** Forces of the ground as arrows from the feet. */

import { ConeGeometry, CylinderGeometry, Group, Mesh, MeshStandardMaterial, Object3D, Vector3 } from "three";
import type { Force, Scene } from "../data.ts";
import { between } from "../pose.ts";
import type { Moment } from "../time.ts";

const UP = new Vector3(0, 1, 0);
const PULLS = "#e5142b";
/** Forces below this share of the one that they are measured by are not drawn. */
const LEAST = 0.004;
const SHAFT = new CylinderGeometry(1, 1, 1, 14).translate(0, 0.5, 0);
const HEAD = new ConeGeometry(1, 1, 20).translate(0, -0.5, 0); // its point in the origin

/** The force whose arrow has a known length: the robot's weight, or without weight the largest force [N]. */
export function measureOf({ weight, forces }: Scene): number {
  if (weight > 0) return weight;
  const largest = forces
    .flatMap((force) => [...force.forces])
    .reduce((most, part) => Math.max(most, Math.abs(part)), 0);
  return largest || 1;
}

interface Arrow {
  force: Force;
  group: Group;
  shaft: Mesh;
  head: Mesh;
  material: MeshStandardMaterial;
}

export class Arrows {
  readonly group = new Group();
  private readonly arrows: Arrow[];
  private readonly measure: number; // N

  /** `length`: of the arrow of the force that others are measured by [m]. */
  constructor(
    private readonly scene: Scene,
    private readonly frames: readonly Object3D[],
    private readonly length: number,
  ) {
    this.measure = measureOf(scene);
    this.arrows = scene.forces.map((force) => {
      const material = new MeshStandardMaterial({
        color: force.color,
        roughness: 0.5,
        emissive: force.color,
        emissiveIntensity: 0.25,
      });
      const [shaft, head, group] = [new Mesh(SHAFT, material), new Mesh(HEAD, material), new Group()];
      group.add(shaft, head);
      this.group.add(group);
      return { force, group, shaft, head, material };
    });
  }

  update(moment: Moment): void {
    const [thick, row, foot, along] = [0.02 * this.scene.size, [0, 0, 0], new Vector3(), new Vector3()];
    for (const { force, group, shaft, head, material } of this.arrows) {
      const [x, y, z] = between(force.forces, 3, moment, row);
      along.set(x, y, z);
      const size = along.length();
      const length = (size / this.measure) * this.length;
      group.visible = size > LEAST * this.measure;
      if (!group.visible) continue;
      along.divideScalar(size);
      const frame = this.frames[force.frame];
      foot
        .set(...force.point)
        .applyQuaternion(frame.quaternion)
        .add(frame.position);
      const pulls = z < 0; // the arrow ends in the foot, above the ground, where it can be seen
      if (pulls) foot.addScaledVector(along, -length);
      group.position.copy(foot);
      group.quaternion.setFromUnitVectors(UP, along);
      const point = Math.min(4.2 * thick, length);
      shaft.scale.set(0.55 * thick, Math.max(length - point, 1e-9), 0.55 * thick);
      head.scale.set((point / 4.2) * 1.5, point, (point / 4.2) * 1.5);
      head.position.set(0, length, 0);
      material.color.set(pulls ? PULLS : force.color);
      material.emissive.set(pulls ? PULLS : force.color);
    }
  }
}
