/** The one WebGL context of a page, with its light. Browsers allow few contexts; every view borrows this one. */

import { Color, DirectionalLight, HemisphereLight, PCFShadowMap, PerspectiveCamera, Scene, WebGLRenderer } from "three";
import type { Object3D } from "three";

/** Where the sun stands, from what is lit. */
const SUN = [-0.55, -0.35, 1.0] as const;

/** Pictures of more pixels have finer shadows. */
const LARGE = 6e5;

export interface Cell {
  left: number;
  top: number;
  width: number;
  height: number;
}

export class Studio {
  private readonly scene = new Scene();
  private readonly sky = new HemisphereLight(0xffffff, 0x8a94a0, 1.5);
  private readonly sun = new DirectionalLight(0xffffff, 2.1);

  constructor(private readonly renderer: WebGLRenderer) {
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = PCFShadowMap;
    renderer.setScissorTest(true);
    this.sky.position.set(0, 0, 1);
    this.sun.castShadow = true;
    this.sun.shadow.radius = 3;
    this.scene.add(this.sky, this.sun, this.sun.target);
  }

  /** Calls back whenever the context has come back after it was lost. */
  onRestored(told: () => void, signal: AbortSignal): void {
    this.renderer.domElement.addEventListener("webglcontextrestored", told, { signal });
  }

  /** Make the picture as large as a canvas, of one colour. */
  begin(width: number, height: number, color: string): void {
    const { domElement } = this.renderer;
    if (domElement.width !== width || domElement.height !== height) {
      this.renderer.setSize(width, height, false);
      this.sharpen(width * height > LARGE ? 2048 : 1024);
    }
    this.renderer.setScissor(0, 0, width, height);
    this.renderer.setViewport(0, 0, width, height);
    this.renderer.setClearColor(new Color(color));
    this.renderer.clear();
  }

  /** Shadows of so many pixels. */
  private sharpen(side: number): void {
    const { shadow } = this.sun;
    if (shadow.mapSize.x === side) return;
    shadow.mapSize.set(side, side);
    shadow.map?.dispose();
    shadow.map = null; // made anew when it is needed
  }

  /** Light a ball around a place. */
  light(center: readonly [number, number, number], radius: number, dark: boolean): void {
    const length = Math.hypot(...SUN);
    const [x, y, z] = SUN.map((part, k) => center[k] + (3 * radius * part) / length);
    this.sun.position.set(x, y, z);
    this.sun.target.position.set(...center);
    const camera = this.sun.shadow.camera;
    camera.left = camera.bottom = -radius;
    camera.right = camera.top = radius;
    camera.near = 0.5 * radius;
    camera.far = 6 * radius;
    camera.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.004 * radius;
    this.sun.intensity = dark ? 1.7 : 2.1;
    this.sky.intensity = dark ? 1.1 : 1.5;
  }

  /** Draw things into a part of the picture. */
  draw(things: Object3D, camera: PerspectiveCamera, cell: Cell, sky: string): void {
    const bottom = this.renderer.domElement.height - cell.top - cell.height;
    this.renderer.setViewport(cell.left, bottom, cell.width, cell.height);
    this.renderer.setScissor(cell.left, bottom, cell.width, cell.height);
    this.scene.background = new Color(sky);
    this.scene.add(things);
    this.renderer.render(this.scene, camera);
    this.scene.remove(things);
  }

  /** Copy the picture onto a canvas. */
  copyTo(canvas: HTMLCanvasElement): void {
    canvas.getContext("2d", { alpha: false })?.drawImage(this.renderer.domElement, 0, 0);
  }
}

let opened: Studio | null | undefined;

/** The studio of this page; null where the browser has no WebGL. */
export function studio(): Studio | null {
  if (opened === undefined) {
    const canvas = document.createElement("canvas");
    const options = { antialias: true, alpha: false, powerPreference: "low-power" } as const;
    const context = canvas.getContext("webgl2", options) as WebGL2RenderingContext | null;
    opened = context && new Studio(new WebGLRenderer({ canvas, context, ...options }));
  }
  return opened;
}
