/** A run on the stage: its robot, cables, arrows, centres of mass and ground. */

import { BufferGeometry, Color, DoubleSide, Group, Mesh, MeshStandardMaterial, Object3D, Vector3 } from "three";
import type { Scene } from "../data.ts";
import { between, turnBetween } from "../pose.ts";
import { momentAt } from "../time.ts";
import { Arrows } from "./arrows.ts";
import { Contacts } from "./contacts.ts";
import type { Ground } from "./ground.ts";
import { Impulses } from "./impulses.ts";
import { Masses } from "./masses.ts";
import { meshOf } from "./shapes.ts";
import { Threads } from "./threads.ts";

export type Kind = "forces" | "traces" | "threads" | "masses";

/** How much of its run's colour a body takes on where robots stand in one another. */
const TINT = 0.6;
const THROUGH = 0.38; // opacity of all but the first of them

export class Actor {
  readonly root = new Group();
  private readonly frames: Object3D[];
  private readonly materials: { material: MeshStandardMaterial; color: string; tail: boolean }[] = [];
  private readonly threads: Threads;
  private readonly arrows: Arrows;
  private readonly contacts: Contacts;
  readonly impulses: Impulses;
  private readonly masses: Masses;
  private readonly robot = new Group();

  constructor(
    readonly scene: Scene,
    readonly ground: Ground,
    arrowLength: number,
    impulseLength: number, // of an arrow of 1 N s [m]
  ) {
    this.frames = scene.frames.map(() => new Group());
    this.robot.add(...this.frames);
    for (const solid of scene.solids) {
      const mesh = meshOf(solid.shape, this.materialOf(solid.color, solid.role === "tail"));
      mesh.castShadow = mesh.receiveShadow = true;
      this.frames[solid.frame].add(mesh);
    }
    this.threads = new Threads(scene, this.frames);
    this.arrows = new Arrows(scene, this.frames, arrowLength);
    this.contacts = new Contacts(scene, this.frames);
    this.impulses = new Impulses(scene, this.frames, impulseLength);
    this.masses = new Masses(scene);
    const { arrows, contacts, impulses, masses, threads } = this;
    for (const part of [ground, threads, arrows, contacts, impulses]) this.root.add(part.group);
    this.root.add(this.robot, masses.ways, masses.signs);
  }

  private materialOf(color: string, tail: boolean): MeshStandardMaterial {
    const known = this.materials.find((other) => other.color === color && other.tail === tail);
    if (known) return known.material;
    const look = { roughness: 0.62, metalness: 0.04, side: DoubleSide }; // meshes of files may be inside out
    const material = new MeshStandardMaterial({ color, ...look });
    this.materials.push({ material, color, tail });
    return material;
  }

  show(kind: Kind, shown: boolean): void {
    const groups = {
      forces: this.arrows.group,
      traces: this.masses.ways,
      threads: this.threads.group,
      masses: this.masses.signs,
    };
    groups[kind].visible = shown;
    if (kind === "forces") this.contacts.group.visible = this.impulses.group.visible = shown;
  }

  /**
   * In its own colours; among others in the same place, in that of its run, and translucent if not the first.
   * Faces that coincide do not flicker: those of the robot that comes first, of `order` 0, are in front.
   */
  dress(overlaid: boolean, order: number): void {
    const first = order === 0;
    for (const { material, color, tail } of this.materials) {
      material.color.set(color);
      if (overlaid && !tail) material.color.lerp(new Color(this.scene.color), TINT);
      material.opacity = overlaid && !first ? THROUGH : 1;
      material.transparent = overlaid && !first;
      material.polygonOffset = overlaid;
      material.polygonOffsetFactor = material.polygonOffsetUnits = 2 * order;
      material.needsUpdate = true;
    }
  }

  update(time: number): void {
    const moment = momentAt(this.scene.times, time);
    const row: number[] = [];
    this.scene.frames.forEach((frame, k) => {
      const [x, y, z] = between(frame.places, 3, moment, row);
      this.frames[k].position.set(x, y, z);
      const [w, a, b, c] = turnBetween(frame.turns, moment, row);
      this.frames[k].quaternion.set(a, b, c, w);
    });
    this.threads.update();
    this.arrows.update(moment);
    this.contacts.update(time);
    this.impulses.update(time);
    this.masses.update(moment);
  }

  /** How far the robot has gone over the ground since the start: what a camera that follows takes away. */
  gone(): [number, number] {
    const { places } = this.scene.frames[0];
    return [this.frames[0].position.x - places[0], this.frames[0].position.y - places[1]];
  }

  /** Where the far ends of the limbs are as drawn, in the inertial frame. */
  tips(): { limb: string; place: [number, number, number] }[] {
    this.root.updateMatrixWorld(true);
    return this.scene.tips.map(([limb, frame, point]) => {
      const world = this.frames[frame].localToWorld(new Vector3(...point));
      return { limb, place: this.root.worldToLocal(world).toArray() };
    });
  }

  /** Give back what the graphics card holds; it is uploaded again when it is drawn next. */
  release(): void {
    this.root.traverse((thing) => {
      if (thing instanceof Mesh && thing.geometry instanceof BufferGeometry) thing.geometry.dispose();
    });
  }
}
