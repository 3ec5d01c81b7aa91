/** Shapes of a robot as meshes on its frames. */

import {
  BufferGeometry,
  CylinderGeometry,
  LatheGeometry,
  Material,
  Mesh,
  SphereGeometry,
  Vector2,
  Vector3,
} from "three";
import { RoundedBoxGeometry } from "three/addons/geometries/RoundedBoxGeometry.js";
import type { Shape } from "../data.ts";

const UP = new Vector3(0, 1, 0);
const ROUND = 24; // edges of a circle
const BALL = new SphereGeometry(1, ROUND, 14);

export function meshOf(shape: Shape, material: Material): Mesh {
  if (shape.kind === "box") {
    const mesh = new Mesh(new RoundedBoxGeometry(...shape.size, 3, 0.14 * Math.min(...shape.size)), material);
    mesh.position.set(...shape.center);
    return mesh;
  }
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
  const [x, y, z] = shape.center;
  const [a, b, c] = shape.size.map((side) => side / 2);
  const signs = [-1, 1];
  return {
    points: signs.flatMap((i) =>
      signs.flatMap((j) => signs.map((k): [number, number, number] => [x + i * a, y + j * b, z + k * c])),
    ),
    reach: 0,
  };
}
