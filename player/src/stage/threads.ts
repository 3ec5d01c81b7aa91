/** Cables and springs: unit pieces, stretched between the points that they run through. */

import {
  Curve,
  CylinderGeometry,
  Group,
  InstancedMesh,
  Matrix4,
  MeshStandardMaterial,
  Object3D,
  Quaternion,
  TubeGeometry,
  Vector3,
} from "three";
import type { Point, Scene, Thread } from "../data.ts";
import { placed } from "../pose.ts";

const UP = new Vector3(0, 1, 0);
/** Least radius of a cable that is drawn, as a share of the torso's longest side. */
const THIN = 0.004;
const TURNS = 7;
const WIRE = 0.16; // radius of a spring's wire as a share of that of its coil

/** A coil of radius 1 from the origin to (0, length, 0). */
class Coil extends Curve<Vector3> {
  constructor(private readonly length: number) {
    super();
  }

  override getPoint(share: number, at = new Vector3()): Vector3 {
    const lead = 0.06; // straight at both ends
    const turned = 2 * Math.PI * TURNS * Math.min(Math.max((share - lead) / (1 - 2 * lead), 0), 1);
    const radius = share < lead || share > 1 - lead ? 0 : 1;
    return at.set(radius * Math.cos(turned), share * this.length, radius * Math.sin(turned));
  }
}

/** A coil of radius 1 and length 1 whose wire is round once it is as many times longer than wide. */
function coil(slender: number): TubeGeometry {
  return new TubeGeometry(new Coil(slender), 26 * TURNS, WIRE, 7).scale(1, 1 / slender, 1);
}

/** Length over radius of springs at the start, on the average. */
function slenderness({ frames }: Scene, springs: readonly Thread[]): number {
  const at = ([frame, point]: readonly [number, Point]) =>
    placed([...frames[frame].turns.subarray(0, 4)], [...frames[frame].places.subarray(0, 3)], point);
  const each = springs.map(({ points, radius }) => {
    const [[a, b, c], [x, y, z]] = [at(points[0]), at(points[points.length - 1])];
    return Math.hypot(x - a, y - b, z - c) / radius;
  });
  return Math.max(each.reduce((sum, one) => sum + one, 0) / each.length, 1);
}

interface Piece {
  mesh: InstancedMesh;
  index: number;
  from: readonly [number, Point];
  to: readonly [number, Point];
  radius: number;
}

export class Threads {
  readonly group = new Group();
  private readonly pieces: Piece[] = [];

  constructor(
    scene: Scene,
    private readonly frames: readonly Object3D[],
  ) {
    for (const kind of ["cable", "spring"] as const) {
      const threads = scene.threads.filter((thread) => thread.kind === kind);
      const count = threads.reduce((sum, thread) => sum + thread.points.length - 1, 0);
      if (!count) continue;
      const geometry =
        kind === "cable"
          ? new CylinderGeometry(1, 1, 1, 8, 1, true).translate(0, 0.5, 0)
          : coil(slenderness(scene, threads));
      const mesh = new InstancedMesh(
        geometry,
        new MeshStandardMaterial({ color: threads[0].color, roughness: 0.6 }),
        count,
      );
      mesh.frustumCulled = false;
      mesh.castShadow = kind === "spring";
      this.group.add(mesh);
      let index = 0;
      for (const thread of threads) index = this.add(thread, mesh, index, kind === "cable" ? THIN * scene.size : 0);
    }
  }

  private add(thread: Thread, mesh: InstancedMesh, index: number, least: number): number {
    for (let k = 0; k + 1 < thread.points.length; k++) {
      const radius = Math.max(thread.radius, least);
      this.pieces.push({ mesh, index: index + k, from: thread.points[k], to: thread.points[k + 1], radius });
    }
    return index + thread.points.length - 1;
  }

  /** Stretch the pieces to where the frames are now. */
  update(): void {
    const [from, to, along, turn, size, matrix] = [
      new Vector3(),
      new Vector3(),
      new Vector3(),
      new Quaternion(),
      new Vector3(),
      new Matrix4(),
    ];
    for (const piece of this.pieces) {
      this.at(piece.from, from);
      this.at(piece.to, to);
      const length = along.subVectors(to, from).length();
      if (length > 0) turn.setFromUnitVectors(UP, along.divideScalar(length));
      piece.mesh.setMatrixAt(piece.index, matrix.compose(from, turn, size.set(piece.radius, length, piece.radius)));
      piece.mesh.instanceMatrix.needsUpdate = true;
    }
  }

  private at([frame, point]: readonly [number, Point], out: Vector3): void {
    const { quaternion, position } = this.frames[frame];
    out
      .set(...point)
      .applyQuaternion(quaternion)
      .add(position);
  }
}
