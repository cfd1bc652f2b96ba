/**
 * A canvas with the map on it that can be moved, zoomed and drawn on, by mouse, touch and keyboard.
 *
 * Boards side by side share a camera. A board detects where walls, start and goal are touched, and calls its owner, who
 * decides what that means.
 */

import { Backdrop, type Bitmap, Frame, sharpen } from "../draw";
import type { Cell } from "../engine/types";
import { h } from "../ui/dom";

export type Tool = "move" | "wall" | "erase";
export type Marker = "start" | "goal";

const MOST_ZOOM = 64;
export const WHOLE = 0.95; // the share of a canvas that the whole map takes, so that markers in its corners are not cut off
const GRAB = 22; // CSS pixels within which a marker can be dragged

/** The part of the map that is shown: its middle in cells, and its size relative to the whole map. */
export class Camera {
  x = 0;
  y = 0;
  zoom = 1;

  constructor(
    readonly width: number,
    readonly height: number,
  ) {
    this.fit();
  }

  fit(): void {
    this.x = this.width / 2;
    this.y = this.height / 2;
    this.zoom = 1;
  }

  /** The frame of a canvas. */
  apply(frame: Frame, canvas: HTMLCanvasElement): void {
    frame.scale = Math.min(canvas.width / this.width, canvas.height / this.height) * this.zoom * WHOLE;
    frame.x = this.x - canvas.width / frame.scale / 2;
    frame.y = this.y - canvas.height / frame.scale / 2;
  }

  move(dx: number, dy: number): void {
    this.x = Math.min(this.width, Math.max(0, this.x + dx));
    this.y = Math.min(this.height, Math.max(0, this.y + dy));
  }

  /** Zoom by a factor, and keep one place of the map where it is on the canvas. */
  zoomBy(factor: number, x = this.x, y = this.y): void {
    const zoom = Math.min(MOST_ZOOM, Math.max(0.5, this.zoom * factor));
    const ratio = this.zoom / zoom;
    this.zoom = zoom;
    this.x = x + (this.x - x) * ratio;
    this.y = y + (this.y - y) * ratio;
    this.move(0, 0);
  }
}

/** The calls of a board to its owner. */
export interface Hands {
  tool(): Tool;
  brush(): number;
  marker(which: Marker): Cell | null;
  /** Draw or erase along cells; `done` ends the stroke. */
  draw(cells: readonly Cell[], open: boolean, done: boolean): void;
  /** Put a marker somewhere; `done` when it is let go. */
  put(which: Marker, cell: Cell, done: boolean): void;
  /** The camera has moved. */
  changed(): void;
  announce(text: string): void;
}

type Drag =
  | { kind: "move"; x: number; y: number }
  | { kind: "draw"; last: Cell; open: boolean }
  | { kind: "marker"; which: Marker; last: Cell };

export class Board {
  readonly canvas: HTMLCanvasElement;
  readonly frame: Frame;
  private readonly backdrop = new Backdrop();
  /** The cell that the keyboard points at; -1 while it is not in use. */
  cursor: Cell = -1;
  private drag: Drag | null = null;
  private readonly fingers = new Map<number, { x: number; y: number }>();

  constructor(
    private readonly camera: Camera,
    private readonly hands: Hands,
    label: string,
  ) {
    this.frame = new Frame(camera.width, camera.height);
    this.canvas = h("canvas", { class: "board", tabindex: 0, role: "application", "aria-label": label });
    this.canvas.setAttribute("aria-roledescription", "map");
    this.canvas.addEventListener("pointerdown", (event) => this.down(event));
    this.canvas.addEventListener("pointermove", (event) => this.moved(event));
    for (const name of ["pointerup", "pointercancel"] as const) {
      this.canvas.addEventListener(name, (event) => this.up(event));
    }
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("focus", () => this.canvas.matches(":focus-visible") && this.point());
    this.canvas.addEventListener("blur", () => {
      this.cursor = -1;
      hands.changed();
    });
  }

  /** Begin to draw with these bitmaps, with the canvas as large as on the page and the frame of the camera. */
  begin(...bitmaps: Bitmap[]): CanvasRenderingContext2D {
    sharpen(this.canvas);
    this.camera.apply(this.frame, this.canvas);
    const context = this.canvas.getContext("2d")!;
    this.backdrop.draw(context, this.frame, ...bitmaps);
    return context;
  }

  drawCursor(context: CanvasRenderingContext2D, colour: string): void {
    if (this.cursor < 0) return;
    const [x, y] = this.frame.place(this.cursor);
    const side = Math.max(10, this.frame.scale);
    context.strokeStyle = colour;
    context.lineWidth = 3;
    context.strokeRect(x - side / 2, y - side / 2, side, side);
  }

  private get sharpness(): number {
    return this.canvas.width / Math.max(1, this.canvas.clientWidth);
  }

  private at(event: PointerEvent | WheelEvent): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    return { x: (event.clientX - box.left) * this.sharpness, y: (event.clientY - box.top) * this.sharpness };
  }

  // --- mouse and touch ---

  private down(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId);
    const place = this.at(event);
    this.fingers.set(event.pointerId, place);
    if (this.fingers.size === 2) {
      this.finish();
      return;
    }
    if (this.fingers.size > 2) return;
    const cell = this.frame.cellAt(place.x, place.y);
    const marker = event.button === 0 ? this.markerAt(place) : null;
    const tool = this.hands.tool();
    if (marker) this.drag = { kind: "marker", which: marker, last: cell };
    else if (tool === "move" || event.button === 1 || event.button === 2) this.drag = { kind: "move", ...place };
    else {
      this.drag = { kind: "draw", last: cell, open: tool === "erase" };
      this.hands.draw(this.stroke(cell, cell), tool === "erase", false);
    }
  }

  private markerAt({ x, y }: { x: number; y: number }): Marker | null {
    let best: Marker | null = null;
    let least = GRAB * this.sharpness;
    for (const which of ["goal", "start"] as const) {
      const cell = this.hands.marker(which);
      if (cell === null) continue;
      const [cx, cy] = this.frame.place(cell);
      const away = Math.hypot(cx - x, cy - y);
      if (away < least) [best, least] = [which, away];
    }
    return best;
  }

  private moved(event: PointerEvent): void {
    const place = this.at(event);
    const before = this.fingers.get(event.pointerId);
    if (!before) {
      if (event.pointerType === "mouse") this.canvas.style.cursor = this.markerAt(place) ? "grab" : cursorOf(this.hands.tool());
      return;
    }
    if (this.fingers.size === 2) this.pinch(event.pointerId, before, place);
    this.fingers.set(event.pointerId, place);
    if (this.fingers.size === 1 && this.drag) this.dragTo(this.drag, place);
  }

  private dragTo(drag: Drag, place: { x: number; y: number }): void {
    const cell = this.frame.cellAt(place.x, place.y);
    if (drag.kind === "move") {
      this.camera.move((drag.x - place.x) / this.frame.scale, (drag.y - place.y) / this.frame.scale);
      [drag.x, drag.y] = [place.x, place.y];
      this.hands.changed();
    } else if (cell >= 0 && cell !== drag.last) {
      if (drag.kind === "draw") this.hands.draw(this.stroke(drag.last, cell), drag.open, false);
      else this.hands.put(drag.which, cell, false);
      drag.last = cell;
    }
  }

  private pinch(id: number, before: { x: number; y: number }, now: { x: number; y: number }): void {
    const other = [...this.fingers].find(([key]) => key !== id)![1];
    const apart = (place: { x: number; y: number }): number => Math.max(1, Math.hypot(place.x - other.x, place.y - other.y));
    const { scale } = this.frame;
    this.camera.move((before.x - now.x) / 2 / scale, (before.y - now.y) / 2 / scale);
    const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
    this.camera.zoomBy(apart(now) / apart(before), middle.x / scale + this.frame.x, middle.y / scale + this.frame.y);
    this.hands.changed();
  }

  private up(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    if (this.fingers.size === 0) this.finish();
  }

  private finish(): void {
    const { drag } = this;
    this.drag = null;
    if (drag?.kind === "draw") this.hands.draw([], drag.open, true);
    if (drag?.kind === "marker" && drag.last >= 0) this.hands.put(drag.which, drag.last, true);
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const { x, y } = this.at(event);
    const { frame } = this;
    this.camera.zoomBy(Math.exp(-event.deltaY * 0.0015), x / frame.scale + frame.x, y / frame.scale + frame.y);
    this.hands.changed();
  }

  /** Return the cells under a brush that is drawn from one cell to another. */
  private stroke(from: Cell, to: Cell): Cell[] {
    return strokeCells(this.camera.width, this.camera.height, from < 0 ? to : from, to, this.hands.brush());
  }

  // --- keyboard ---

  private point(): void {
    if (this.cursor < 0) {
      const x = Math.min(this.camera.width - 1, Math.floor(this.camera.x));
      this.cursor = Math.min(this.camera.height - 1, Math.floor(this.camera.y)) * this.camera.width + x;
    }
    this.hands.changed();
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrows: Record<string, [number, number]> = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, -1],
      ArrowDown: [0, 1],
    };
    const arrow = arrows[event.key];
    if (arrow) this.arrow(arrow, event.shiftKey);
    else if (!this.act(event.key.toLowerCase())) return;
    event.preventDefault();
    event.stopPropagation();
  }

  private arrow([dx, dy]: [number, number], pan: boolean): void {
    const { width, height } = this.camera;
    if (pan) {
      this.camera.move((dx * width) / 10 / this.camera.zoom, (dy * height) / 10 / this.camera.zoom);
      this.hands.changed();
      return;
    }
    this.point();
    const x = Math.min(width - 1, Math.max(0, (this.cursor % width) + dx));
    const y = Math.min(height - 1, Math.max(0, Math.floor(this.cursor / width) + dy));
    this.cursor = y * width + x;
    this.hands.announce(`column ${x}, row ${y}`);
    this.hands.changed();
  }

  private act(key: string): boolean {
    if (this.cursor < 0) return false;
    if (key === "w" || key === "x") {
      this.hands.draw(this.stroke(this.cursor, this.cursor), key === "x", false);
      this.hands.draw([], key === "x", true);
      this.hands.announce(key === "w" ? "wall" : "open");
    } else if (key === "s" || key === "g") {
      this.hands.put(key === "s" ? "start" : "goal", this.cursor, true);
      this.hands.announce(key === "s" ? "start" : "goal");
    } else return false;
    return true;
  }
}

function cursorOf(tool: Tool): string {
  return tool === "move" ? "move" : "crosshair";
}

/** Return the cells within a square brush that is drawn in a straight line. */
export function strokeCells(width: number, height: number, from: Cell, to: Cell, brush: number): Cell[] {
  if (to < 0) return [];
  const [ax, ay, bx, by] = [from % width, Math.floor(from / width), to % width, Math.floor(to / width)];
  const steps = Math.max(Math.abs(bx - ax), Math.abs(by - ay), 1);
  const cells = new Set<Cell>();
  const before = Math.floor((brush - 1) / 2);
  for (let k = 0; k <= steps; k++) {
    const x = Math.round(ax + ((bx - ax) * k) / steps) - before;
    const y = Math.round(ay + ((by - ay) * k) / steps) - before;
    for (let row = Math.max(0, y); row < Math.min(height, y + brush); row++) {
      for (let column = Math.max(0, x); column < Math.min(width, x + brush); column++) cells.add(row * width + column);
    }
  }
  return [...cells];
}
