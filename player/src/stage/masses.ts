/** Centres of mass and their ways. */

import {
  BufferAttribute,
  BufferGeometry,
  CanvasTexture,
  Color,
  Group,
  Mesh,
  MeshBasicMaterial,
  SRGBColorSpace,
  Sprite,
  SpriteMaterial,
} from "three";
import type { Marker, Scene } from "../data.ts";
import { between } from "../pose.ts";
import type { Moment } from "../time.ts";

const INK = "#1f2328";
const AROUND = 6; // edges of a way's section

/** The sign of a centre of mass: a disc in quarters. */
function signOf(color: string): CanvasTexture {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 64;
  const paint = canvas.getContext("2d")!;
  const disc = (radius: number, style: string, from = 0, to = 2 * Math.PI) => {
    paint.fillStyle = style;
    paint.beginPath();
    paint.moveTo(32, 32);
    paint.arc(32, 32, radius, from, to);
    paint.fill();
  };
  disc(31, INK);
  disc(27, color);
  disc(27.5, INK, 0, Math.PI / 2);
  disc(27.5, INK, Math.PI, 1.5 * Math.PI);
  const texture = new CanvasTexture(canvas);
  texture.colorSpace = SRGBColorSpace;
  return texture;
}

/** A thin tube along a way. Its triangles are in the order of time. */
function tubeOf(places: Float32Array, radius: number): BufferGeometry {
  const count = places.length / 3;
  const corners = new Float32Array(count * AROUND * 3);
  const triangles = new Uint32Array((count - 1) * AROUND * 6);
  for (let k = 0; k < count; k++) {
    const [before, after] = [Math.max(k - 1, 0) * 3, Math.min(k + 1, count - 1) * 3];
    const along = [0, 1, 2].map((axis) => places[after + axis] - places[before + axis]);
    const [first, second] = across(along);
    for (let j = 0; j < AROUND; j++) {
      const [c, s] = [Math.cos((2 * Math.PI * j) / AROUND), Math.sin((2 * Math.PI * j) / AROUND)];
      for (let axis = 0; axis < 3; axis++) {
        corners[(k * AROUND + j) * 3 + axis] = places[k * 3 + axis] + radius * (c * first[axis] + s * second[axis]);
      }
      if (k + 1 < count) {
        const [a, b] = [k * AROUND + j, k * AROUND + ((j + 1) % AROUND)];
        triangles.set([a, b, a + AROUND, b, b + AROUND, a + AROUND], (k * AROUND + j) * 6);
      }
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(corners, 3));
  geometry.setIndex(new BufferAttribute(triangles, 1));
  return geometry;
}

/** Two unit vectors across a direction; of a way that stands still, any. */
function across(along: readonly number[]): [number[], number[]] {
  const length = Math.hypot(...along);
  const [x, y, z] = length > 0 ? along.map((part) => part / length) : [1, 0, 0];
  const flat = Math.hypot(x, y);
  const first = flat > 1e-3 ? [-y / flat, x / flat, 0] : [1, 0, 0];
  return [first, [y * first[2] - z * first[1], z * first[0] - x * first[2], x * first[1] - y * first[0]]];
}

export class Masses {
  readonly signs = new Group();
  readonly ways = new Group();
  private readonly parts: { marker: Marker; sign: Sprite; way: BufferGeometry }[];

  constructor(scene: Scene) {
    this.parts = scene.markers.map((marker) => {
      const sign = new Sprite(new SpriteMaterial({ map: signOf(marker.color), depthTest: false }));
      sign.scale.setScalar(2.2 * marker.radius);
      sign.renderOrder = 3; // it is inside of bodies, and yet to be seen
      const geometry = tubeOf(marker.places, 0.2 * marker.radius);
      const material = new MeshBasicMaterial({
        color: new Color(marker.color),
        depthTest: false,
        transparent: true,
        opacity: 0.9,
      });
      const way = new Mesh(geometry, material);
      way.renderOrder = 2;
      way.frustumCulled = false;
      this.signs.add(sign);
      this.ways.add(way);
      return { marker, sign, way: geometry };
    });
  }

  update(moment: Moment): void {
    for (const { marker, sign, way } of this.parts) {
      const [x, y, z] = between(marker.places, 3, moment, [0, 0, 0]);
      sign.position.set(x, y, z);
      way.setDrawRange(0, moment.index * AROUND * 6);
    }
  }
}
