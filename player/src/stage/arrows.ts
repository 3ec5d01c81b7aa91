/** Forces of the ground as arrows from the feet. */

import {
  ConeGeometry,
  CylinderGeometry,
  Group,
  type Material,
  Mesh,
  MeshStandardMaterial,
  type Object3D,
  Vector3,
} from "three";
import type { Force, Point, Scene } from "../data.ts";
import { between } from "../pose.ts";
import type { Moment } from "../time.ts";

const UP = new Vector3(0, 1, 0);
const PULLS = "#e5142b";
/** Forces below this share of the one that they are measured by are not drawn. */
const LEAST = 0.004;
/** Lengths as shares of the torso's longest side: of the arrow of the robot's weight, of the longest arrow, and the least
 * for the weight whatever the longest. */
const [WEIGHT, LONGEST, SHORTEST] = [1.2, 1.8, 0.4];
const SHAFT = new CylinderGeometry(1, 1, 1, 14).translate(0, 0.5, 0);
const HEAD = new ConeGeometry(1, 1, 20).translate(0, -0.5, 0); // its point in the origin

/** The largest force of a run [N]. */
function largestForce({ forces }: Scene): number {
  let most = 0;
  for (const { forces: own } of forces)
    for (let k = 0; k < own.length; k += 3) most = Math.max(most, Math.hypot(own[k], own[k + 1], own[k + 2]));
  return most;
}

/** The force whose arrow has a known length: the robot's weight, or without weight the largest force [N]. */
export function measureOf(scene: Scene): number {
  return scene.weight > 0 ? scene.weight : largestForce(scene) || 1;
}

/** How long the arrow of that force is, as a share of the torso's longest side: less where forces are large. */
export function arrowShare(scenes: readonly Scene[]): number {
  const largest = Math.max(...scenes.map((scene) => largestForce(scene) / measureOf(scene)));
  return Math.max(Math.min(WEIGHT, LONGEST / (largest || 1)), SHORTEST);
}

/** An arrow of a material. */
export class ArrowShape {
  readonly group = new Group();
  private readonly shaft: Mesh;
  private readonly head: Mesh;

  constructor(material: Material) {
    [this.shaft, this.head] = [new Mesh(SHAFT, material), new Mesh(HEAD, material)];
    this.group.add(this.shaft, this.head);
  }

  /** From a place along a vector; `thick`: of its shaft [m]. */
  set(from: Vector3, vector: Vector3, thick: number): void {
    const length = vector.length();
    this.group.position.copy(from);
    this.group.quaternion.setFromUnitVectors(UP, vector.clone().divideScalar(length));
    const point = Math.min(4.2 * thick, length);
    this.shaft.scale.set(0.55 * thick, Math.max(length - point, 1e-9), 0.55 * thick);
    this.head.scale.set((point / 4.2) * 1.5, point, (point / 4.2) * 1.5);
    this.head.position.set(0, length, 0);
  }
}

/** Where a point of a frame is as drawn. */
export function placeOn(frame: Object3D, point: Point): Vector3 {
  return new Vector3(...point).applyQuaternion(frame.quaternion).add(frame.position);
}

export class Arrows {
  readonly group = new Group();
  private readonly arrows: { force: Force; arrow: ArrowShape; material: MeshStandardMaterial }[];
  private readonly measure: number; // N

  /** `length`: of the arrow of the force that others are measured by [m]. */
  constructor(
    private readonly scene: Scene,
    private readonly frames: readonly Object3D[],
    private readonly length: number,
  ) {
    this.measure = measureOf(scene);
    this.arrows = scene.forces.map((force) => {
      const { color } = force;
      const material = new MeshStandardMaterial({ color, roughness: 0.5, emissive: color, emissiveIntensity: 0.25 });
      const arrow = new ArrowShape(material);
      this.group.add(arrow.group);
      return { force, arrow, material };
    });
  }

  update(moment: Moment): void {
    const along = new Vector3();
    for (const { force, arrow, material } of this.arrows) {
      const [x, y, z] = between(force.forces, 3, moment, []);
      along.set(x, y, z).divideScalar(this.measure);
      arrow.group.visible = along.length() > LEAST;
      if (!arrow.group.visible) continue;
      along.multiplyScalar(this.length);
      const foot = placeOn(this.frames[force.frame], force.point);
      const pulls = z < 0; // the arrow ends in the foot, above the ground, where it can be seen
      if (pulls) foot.sub(along);
      arrow.set(foot, along, 0.02 * this.scene.size);
      material.color.set(pulls ? PULLS : force.color);
      material.emissive.set(pulls ? PULLS : force.color);
    }
  }
}
