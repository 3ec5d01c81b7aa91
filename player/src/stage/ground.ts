/** The ground: a plane without end, or hills, with a grid whose mesh is known. */

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  Group,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  PlaneGeometry,
  ShaderMaterial,
  ShadowMaterial,
  Vector2,
} from "three";
import type { Terrain } from "../data.ts";
import type { Theme } from "../theme.ts";

const VERTEX = `
varying vec2 place;
void main() {
  place = position.xy;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;

// A line is as wide on the screen wherever it is; where the mesh is finer than the screen, it fades.
const FRAGMENT = `
uniform float mesh;
uniform float radius;
uniform vec2 middle;
uniform vec3 color;
varying vec2 place;
float lines(vec2 at, float width) {
  vec2 pixel = max(fwidth(at), 1e-6);
  vec2 away = abs(fract(at - 0.5) - 0.5) / pixel;
  vec2 drawn = clamp(width - away + 0.5, 0.0, 1.0) * (1.0 - smoothstep(0.15, 0.5, pixel));
  return max(drawn.x, drawn.y);
}
void main() {
  float drawn = max(0.4 * lines(place / mesh, 0.5), 0.8 * lines(place / (5.0 * mesh), 0.6));
  float near = 1.0 - smoothstep(0.15, 1.0, distance(place, middle) / radius);
  gl_FragColor = vec4(color, drawn * near);
  #include <colorspace_fragment>
}`;

export class Ground {
  readonly group = new Group();
  private readonly base: MeshBasicMaterial | MeshStandardMaterial;
  private readonly shadow = new ShadowMaterial({ depthWrite: false });
  private readonly grid: ShaderMaterial;
  private readonly middle = new Vector2();

  /** A plane is drawn so far around its middle, its grid as far as `seen`; `mesh`: of the grid [m]. */
  constructor(
    private readonly terrain: Terrain | null,
    [x, y]: readonly number[],
    reach: number,
    seen: number,
    mesh: number,
  ) {
    const geometry = terrain ? hills(terrain) : new PlaneGeometry(2 * reach, 2 * reach).translate(x, y, 0);
    const behind = { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 };
    this.grid = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: {
        mesh: { value: mesh },
        radius: { value: terrain ? Infinity : seen },
        middle: { value: this.middle },
        color: { value: new Color() },
      },
      transparent: true,
      depthWrite: false,
    });
    this.base = terrain ? new MeshStandardMaterial({ roughness: 1, ...behind }) : new MeshBasicMaterial(behind);
    const base = new Mesh(geometry, this.base);
    const grid = new Mesh(geometry, this.grid);
    grid.renderOrder = 1;
    const shadow = terrain ? base : new Mesh(geometry, this.shadow); // a plane is as the sky
    shadow.receiveShadow = true;
    this.group.add(base, grid, shadow);
  }

  paint(theme: Theme): void {
    this.base.color.set(this.terrain ? theme.ground : theme.sky);
    this.shadow.opacity = theme.dark ? 0.5 : 0.22;
    (this.grid.uniforms.color.value as Color).set(theme.grid);
  }

  /** Where it is looked at. */
  center(x: number, y: number): void {
    this.middle.set(x, y);
  }
}

function hills({ x, y, heights }: Terrain): BufferGeometry {
  const corners = new Float32Array(x.length * y.length * 3);
  const triangles: number[] = [];
  for (let i = 0; i < x.length; i++) {
    for (let j = 0; j < y.length; j++) {
      const at = i * y.length + j;
      corners.set([x[i], y[j], heights[at]], 3 * at);
      if (i + 1 < x.length && j + 1 < y.length)
        triangles.push(at, at + y.length, at + 1, at + 1, at + y.length, at + y.length + 1);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(corners, 3));
  geometry.setIndex(triangles);
  geometry.computeVertexNormals();
  return geometry;
}
