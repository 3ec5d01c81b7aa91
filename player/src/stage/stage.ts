/** The robots in 3D, side by side or overlaid, seen by a camera that the hand turns. */

import { Group, PerspectiveCamera, Vector3 } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { Layout, Scene } from "../data.ts";
import type { Theme } from "../theme.ts";
import { roundBelow } from "../units.ts";
import { Actor, type Kind } from "./actor.ts";
import { arrowShare } from "./arrows.ts";
import {
  arranged,
  ballAround,
  directionOf,
  distanceFor,
  reached,
  type Ball,
  type Vector,
  type ViewName,
} from "./camera.ts";
import { Ground } from "./ground.ts";
import { largestImpulse } from "./impulses.ts";
import type { Cell, Studio } from "./studio.ts";

const UPRIGHT = 30; // angle of view [°]
const MARGIN = 1.06;
const LABEL = 28; // px, kept free at the top of each part of the picture
const MESH = 0.25; // length of the grid's mesh as a share of the torso's longest side

/** Pixels of a canvas in one of the page. */
function density(): number {
  return Math.min(window.devicePixelRatio, 2);
}

export class Stage {
  readonly canvas = document.createElement("canvas");
  readonly mesh: number; // of the grid [m]
  readonly squares: number; // of the grid: how long an arrow of the robot's weight is
  private readonly camera = new PerspectiveCamera(UPRIGHT, 1, 0.01, 100);
  private readonly controls: OrbitControls;
  private readonly actors: Actor[];
  private readonly world = new Group();
  private layout: Layout = "side";
  private follow = false;
  private view: ViewName = "three-quarter";
  private points: Vector[] = [];
  private ball: Ball = { center: [0, 0, 0], radius: 1 };
  private turnedByHand = false;
  private theme: Theme | null = null;

  constructor(
    private readonly studio: Studio,
    private readonly scenes: readonly Scene[],
    changed: () => void,
    closed: AbortSignal,
  ) {
    const size = Math.max(...scenes.map((scene) => scene.size));
    this.mesh = roundBelow(MESH * size);
    this.squares = Math.max(Math.round((arrowShare(scenes) * size) / this.mesh), 1);
    this.actors = scenes.map((scene) => {
      const { center, radius } = ballAround(reached(scene, false));
      const ground = new Ground(
        scene.terrain,
        center,
        8 * radius,
        3 * ballAround(reached(scene, true)).radius,
        this.mesh,
      );
      return new Actor(scene, ground, this.squares * this.mesh, size / (largestImpulse(scenes) || 1));
    });
    this.world.add(...this.actors.map((actor) => actor.root));
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.maxPolarAngle = 0.497 * Math.PI;
    this.controls.addEventListener("start", () => (this.turnedByHand = true));
    this.controls.addEventListener("change", changed);
    studio.onRestored(changed, closed);
  }

  /** A page of its own may take every gesture; within a report, a finger or the wheel over it scrolls on. */
  gestures(all: boolean): void {
    this.canvas.style.touchAction = all ? "none" : "pan-y";
    this.controls.enableZoom = all;
  }

  show(kind: Kind, shown: boolean): void {
    for (const actor of this.actors) actor.show(kind, shown);
  }

  arrange(layout: Layout, follow: boolean): void {
    this.layout = layout;
    this.follow = follow;
    this.points = this.scenes.flatMap((scene) => reached(scene, follow));
    this.ball = ballAround(this.points);
    const overlaid = layout === "overlay" && this.actors.length > 1;
    this.actors.forEach((actor, k) => actor.dress(overlaid, k));
    if (!this.turnedByHand) this.look(this.view);
  }

  paint(theme: Theme): void {
    this.theme = theme;
    for (const actor of this.actors) actor.ground.paint(theme);
  }

  /** Look from a side, from as far as it takes to see all of every run. */
  look(view: ViewName): void {
    this.view = view;
    this.turnedByHand = false;
    const [cell] = this.cells();
    const direction = directionOf(this.scenes[0], view);
    const { center } = this.ball;
    const free = Math.max(cell.height - this.label(), 1);
    const angle = 2 * Math.atan((Math.tan((UPRIGHT * Math.PI) / 360) * free) / Math.max(cell.height, 1));
    const distance = MARGIN * distanceFor(this.points, center, direction, angle, cell.width / free);
    this.controls.target.set(...center);
    this.camera.position.set(...center).addScaledVector(new Vector3(...direction), distance);
    this.camera.near = Math.max(0.05 * (distance - this.ball.radius), 0.002 * distance);
    this.camera.far = 60 * distance;
    this.controls.minDistance = 0.15 * this.ball.radius;
    this.controls.maxDistance = 12 * distance;
    this.controls.update();
  }

  /** Height of a label in pixels of the canvas. */
  private label(): number {
    return LABEL * density();
  }

  /** Where each run is seen on the canvas, in its pixels. */
  cells(): Cell[] {
    const { width, height } = this.canvas;
    if (this.layout === "overlay" || this.actors.length === 1) return [{ left: 0, top: 0, width, height }];
    const { columns, rows } = arranged(this.actors.length, width, height);
    return this.actors.map((_, k) => {
      const row = Math.floor(k / columns);
      const inRow = Math.min(columns, this.actors.length - row * columns); // the last row may hold fewer, wider ones
      const edges = (at: number, parts: number, whole: number) => [
        Math.round((at * whole) / parts),
        Math.round(((at + 1) * whole) / parts),
      ];
      const [[left, right], [top, bottom]] = [edges(k % columns, inRow, width), edges(row, rows, height)];
      return { left, top, width: right - left, height: bottom - top };
    });
  }

  /** Adopt the size that the canvas has on the page. */
  resize(): void {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight].map((side) =>
      Math.round(side * density()),
    );
    if (!width || !height || (this.canvas.width === width && this.canvas.height === height)) return;
    [this.canvas.width, this.canvas.height] = [width, height];
    if (!this.turnedByHand) this.look(this.view);
  }

  /** Draw the moment; the sizes of impulses that flash, and where they stand, as shares of the canvas. */
  draw(time: number): { text: string; left: number; top: number }[] {
    const { theme, studio, canvas } = this;
    if (!theme || !canvas.width || !canvas.height) return [];
    const notes: { text: string; left: number; top: number }[] = [];
    for (const actor of this.actors) actor.update(time);
    const cells = this.cells();
    const { center, radius } = this.ball;
    studio.begin(canvas.width, canvas.height, cells.length > 1 ? theme.rule : theme.sky);
    studio.light(center, 1.25 * radius, theme.dark);
    const overlaid = cells.length < this.actors.length;
    cells.forEach((cell, k) => {
      this.place(overlaid ? null : k);
      const [left, top] = [cell.left && 1, cell.top && 1]; // a line between neighbours
      const inner = {
        left: cell.left + left,
        top: cell.top + top,
        width: cell.width - left,
        height: cell.height - top,
      };
      this.camera.aspect = inner.width / inner.height;
      this.camera.setViewOffset(inner.width, inner.height, 0, -this.label() / 2, inner.width, inner.height);
      studio.draw(this.world, this.camera, inner, theme.sky);
      for (const { root, impulses } of this.actors) {
        if (!root.visible || !impulses.group.visible) continue;
        for (const { text, place } of impulses.notes) {
          const { x, y } = place.add(root.position).project(this.camera);
          if (Math.max(Math.abs(x), Math.abs(y)) > 1) continue; // beyond its part of the picture
          const left = (inner.left + ((1 + x) / 2) * inner.width) / canvas.width;
          notes.push({ text, left, top: (inner.top + ((1 - y) / 2) * inner.height) / canvas.height });
        }
      }
    });
    studio.copyTo(canvas);
    return notes;
  }

  /** Show one run, or all; move them so that the camera need not follow. */
  private place(only: number | null): void {
    const leader = this.actors[only ?? 0];
    const hilly = this.actors.find((actor) => actor.scene.terrain) ?? this.actors[0];
    const [dx, dy] = this.follow ? leader.gone() : [0, 0];
    this.actors.forEach((actor, k) => {
      actor.root.visible = only === null || only === k;
      actor.ground.group.visible = only !== null || actor === hilly;
      actor.root.position.set(-dx, -dy, 0);
      actor.ground.center(this.ball.center[0] + dx, this.ball.center[1] + dy);
    });
  }

  tips(): { run: string; limb: string; place: Vector }[] {
    return this.actors.flatMap((actor) => actor.tips().map((tip) => ({ run: actor.scene.label, ...tip })));
  }

  /** Where a hand has put the camera, and where it looks; null: nowhere. */
  eye(): [Vector, Vector] | null {
    return this.turnedByHand ? [this.camera.position.toArray(), this.controls.target.toArray()] : null;
  }

  /** Look from where a hand had put the camera. */
  lookFrom([position, target]: [Vector, Vector]): void {
    this.turnedByHand = true;
    this.camera.position.set(...position);
    this.controls.target.set(...target);
    this.controls.update();
  }

  release(): void {
    for (const actor of this.actors) actor.release();
  }

  close(): void {
    this.release();
    this.controls.dispose();
  }
}
