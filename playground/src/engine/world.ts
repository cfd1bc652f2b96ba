// A map that changes, in the module's memory.

import type { AboutEngine, AboutLevels } from "./about";
import { type MapLayout, type MapPlaces, mapLayout, mapMark, writeLevels, writeMap, writeMapArray } from "./files";
import type { Module } from "./module";
import { type Cell, EngineError, type Ground, type World } from "./types";

export const MOST_SIDE = 1024;

/** What a world is made with if it is the map of the scene, or that map after some edits. */
export interface Given {
  readonly passable: Uint8Array;
  readonly levels: Readonly<Record<string, AboutLevels>>;
  readonly held: Uint8Array; // what is behind the JSON of the scene
}

export class LivingWorld implements World {
  readonly width: number;
  readonly height: number;
  readonly cells: number;
  readonly at: number;
  readonly places: MapPlaces;
  private readonly layout: MapLayout;
  readonly first: Uint8Array; // which cells were passable when databases were built
  readonly isGiven: boolean;
  /** Finds optimal paths; set by the engine. */
  finder: ((start: Cell, goal: Cell) => ReturnType<World["optimal"]>) | null = null;
  onDispose: (() => void) | null = null;

  constructor(
    private readonly module: Module,
    about: AboutEngine,
    ground: Ground,
    given: Given | null,
  ) {
    const { width, height, passable } = ground;
    if (!Number.isInteger(width) || !Number.isInteger(height) || width < 1 || height < 1) {
      throw new EngineError("a map has at least one cell");
    }
    if (width > MOST_SIDE || height > MOST_SIDE) {
      throw new EngineError(`a map has at most ${MOST_SIDE} x ${MOST_SIDE} cells here, and this has ${width} x ${height}`);
    }
    if (passable.length !== width * height) throw new EngineError("a map needs a value for each of its cells");
    this.width = width;
    this.height = height;
    this.cells = width * height;
    this.isGiven = given !== null;
    this.first = (given?.passable ?? passable).slice();
    const levels = given?.levels ?? {};
    const layout = mapLayout(about, ground, levels);
    this.layout = layout;
    this.places = { mark: mapMark(width, height), place: (array) => placeIn(layout, array) };
    this.at = module.memory.take(layout.bytes);
    writeMap(this.image(), about, layout, ground);
    for (let cell = 0; cell < this.cells; cell++) {
      if (this.first[cell]) module.call("andante_open_cell", this.at, layout.bytes, cell);
    }
    // Opening cells leaves traces that a new map must not have: it has not changed yet, and is swept once.
    for (const name of layout.arrays.keys()) {
      if (name.startsWith("changes_") || name.startsWith("parts_")) writeMapArray(this.image(), layout, name, width);
    }
    module.call("andante_settle", this.at, layout.bytes);
    if (given === null) return;
    writeLevels(this.image(), about, layout, levels, given.held);
    const differs = Array.from(passable.keys()).filter((cell) => passable[cell] !== this.first[cell]);
    if (differs.length === 0) return;
    for (const open of [false, true]) this.edit(differs.filter((cell) => (passable[cell] === 1) === open), open);
    module.call("andante_settle", this.at, layout.bytes);
  }

  get bytes(): number {
    return this.layout.bytes;
  }

  private image(): Uint8Array {
    return this.module.memory.bytes().subarray(this.at, this.at + this.layout.bytes);
  }

  /** One array of the map, as it is now. */
  array(name: string): Uint8Array {
    const { at, bytes } = this.layout.arrays.get(name)!;
    return this.image().subarray(at, at + bytes);
  }

  get passable(): Uint8Array {
    return this.array("passable");
  }

  get version(): number {
    return Number(this.module.memory.view().getBigInt64(this.at + this.layout.arrays.get("changes_scalars")!.at, true));
  }

  edit(cells: ArrayLike<Cell>, open: boolean): number {
    const before = this.version;
    const passable = this.passable;
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i]!;
      if (!(cell >= 0 && cell < this.cells)) throw new EngineError(`there is no cell ${cell} on the map`);
      const was = passable[cell] === 1;
      if (was === open) continue;
      this.module.call(open ? "andante_open_cell" : "andante_close_cell", this.at, this.bytes, cell);
    }
    return this.version - before;
  }

  optimal(start: Cell, goal: Cell): ReturnType<World["optimal"]> {
    return this.finder!(start, goal);
  }

  dispose(): void {
    this.onDispose?.();
    this.module.memory.give(this.at);
  }
}

function placeIn(layout: MapLayout, array: string): number {
  const found = layout.arrays.get(array);
  if (found === undefined) throw new EngineError("the levels that this agent plans over are not above this map");
  return found.at;
}
