/** Shapes of a robot as meshes on its frames. */

import {
  BufferAttribute,
  BufferGeometry,
  CylinderGeometry,
  LatheGeometry,
  Material,
  Matrix4,
  Mesh,
  SphereGeometry,
  Vector2,
  Vector3,
} from "three";
import { RoundedBoxGeometry } from "three/addons/geometries/RoundedBoxGeometry.js";
import type { Point, Shape } from "../data.ts";

const UP = new Vector3(0, 1, 0);
const AXES: readonly Point[] = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
];
const ROUND = 24; // edges of a circle
const BALL = new SphereGeometry(1, ROUND, 14);

export function meshOf(shape: Shape, material: Material): Mesh {
  if (shape.kind === "box") {
    const mesh = new Mesh(new RoundedBoxGeometry(...shape.size, 3, 0.14 * Math.min(...shape.size)), material);
    mesh.position.set(...shape.center);
    const [x, y, z] = shape.axes.map((axis) => new Vector3(...axis));
    mesh.quaternion.setFromRotationMatrix(new Matrix4().makeBasis(x, y, z));
    return mesh;
  }
  if (shape.kind === "surface") return new Mesh(surface(shape.vertices, shape.faces), material);
  if (shape.kind === "ball") {
    const mesh = new Mesh(BALL, material);
    mesh.position.set(...shape.center);
    mesh.scale.set(...shape.radii);
    return mesh;
  }
  const start = new Vector3(...shape.start);
  const along = new Vector3(...shape.end).sub(start);
  const length = along.length();
  const mesh = new Mesh(shape.rounded ? roundedBar(length, ...shape.radii) : flatBar(length, ...shape.radii), material);
  mesh.quaternion.setFromUnitVectors(UP, along.normalize());
  mesh.position.copy(start);
  return mesh;
}

/** Triangles, each flat: corners of its own. */
function surface(vertices: Float32Array, faces: readonly number[]): BufferGeometry {
  const corners = new Float32Array(3 * faces.length);
  faces.forEach((vertex, k) => corners.set(vertices.subarray(3 * vertex, 3 * vertex + 3), 3 * k));
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(corners, 3));
  geometry.computeVertexNormals();
  return geometry;
}

/** A bar from the origin along y, with half balls at its ends. */
function roundedBar(length: number, first: number, second: number): BufferGeometry {
  const steps = 5;
  const profile: Vector2[] = [];
  for (let k = 0; k <= steps; k++) {
    const angle = (Math.PI / 2) * (k / steps);
    profile.push(new Vector2(first * Math.sin(angle), -first * Math.cos(angle)));
  }
  for (let k = 0; k <= steps; k++) {
    const angle = (Math.PI / 2) * (k / steps);
    profile.push(new Vector2(second * Math.cos(angle), length + second * Math.sin(angle)));
  }
  return new LatheGeometry(profile, ROUND);
}

function flatBar(length: number, first: number, second: number): BufferGeometry {
  return new CylinderGeometry(second, first, length, ROUND).translate(0, length / 2, 0);
}

/** Points that span a shape, and how far it reaches beyond them. */
export function skeleton(shape: Shape): { points: [number, number, number][]; reach: number } {
  if (shape.kind === "bar") return { points: [[...shape.start], [...shape.end]], reach: Math.max(...shape.radii) };
  if (shape.kind === "ball") return { points: [[...shape.center]], reach: Math.max(...shape.radii) };
  if (shape.kind === "surface") {
    const lower = [Infinity, Infinity, Infinity];
    const upper = [-Infinity, -Infinity, -Infinity];
    shape.vertices.forEach((value, k) => {
      lower[k % 3] = Math.min(lower[k % 3], value);
      upper[k % 3] = Math.max(upper[k % 3], value);
    });
    const side = (k: number) => upper[k] - lower[k];
    const middle = (k: number) => (upper[k] + lower[k]) / 2;
    return boxed([middle(0), middle(1), middle(2)], [side(0), side(1), side(2)], AXES);
  }
  return boxed(shape.center, shape.size, shape.axes);
}

function boxed(center: Point, size: Point, axes: readonly Point[]): { points: [number, number, number][]; reach: number } {
  const points: [number, number, number][] = [];
  for (const i of [-0.5, 0.5])
    for (const j of [-0.5, 0.5])
      for (const k of [-0.5, 0.5]) {
        const along = [i * size[0], j * size[1], k * size[2]];
        const at = (n: number) => center[n] + along[0] * axes[0][n] + along[1] * axes[1][n] + along[2] * axes[2][n];
        points.push([at(0), at(1), at(2)]);
      }
  return { points, reach: 0 };
}
