/** What the stage shows: a walk of some agents, or a crowd. */

import type { Colours } from "./draw";
import type { Cell } from "./engine/types";
import type { Change } from "./redraw";
import type { Camera, Marker, Tool } from "./view/board";
import type { Layers } from "./view/walkerview";

/** What both kinds of sessions get from the page. */
export interface Setting {
  readonly camera: Camera;
  colours: Colours;
  tool: Tool;
  brush: number;
  speed: number; // beats per second
  layers: Layers;
  announce(text: string): void;
  /** Something that the page shows or keeps has changed. */
  changed(): void;
  /** Walls, start or goal were changed before any agent has moved: start again with them. */
  rebuild(change: Change): void;
}

export interface Session {
  readonly root: HTMLElement;
  readonly beatName: "move" | "beat" | "tick";
  readonly playing: boolean;
  readonly rushing: boolean;
  /** The beat that is shown, and the first and the last one that can be. */
  readonly at: number;
  readonly first: number;
  readonly last: number;
  readonly over: boolean;
  play(): void;
  pause(): void;
  step(): void;
  back(): void;
  think(): void;
  rush(): void;
  seek(beat: number): void;
  /** Draw everything again: colours, layers or sizes have changed. */
  repaint(): void;
  /** The terrain and the markers as they are now. */
  terrain(): Uint8Array;
  marker(which: Marker): Cell | null;
  /** Do the work until the next frame, and return whether anything was drawn. */
  frame(seconds: number): boolean;
  dispose(): void;
}

/** Milliseconds of thinking in a frame, which leaves time for drawing. */
export const THINKING = 8;
export const RUSHING = 14;
