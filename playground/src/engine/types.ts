// The interface between the page and the engine. The engine is the machine code of Andante's own agents (WebAssembly)
// and what is needed to lay out their memory on any map; nothing here searches.

/** A cell is a number, y * width + x; so is a state. */
export type Cell = number;

/** Instead of a cell to move to. */
export const STUCK = -1;
export const UNREACHABLE = -2;

/** An error in what a user entered: one sentence, to be shown as it is. */
export class EngineError extends Error {}

// --- cards: the content of the menus ---------------------------------------------------------------------------------

export type Value = number | boolean | string | null; // null: unset, written "none"

export interface Parameter {
  name: string;
  about: string; // help, a phrase
  allowed: string; // "an integer from 1 to 100", to be shown
  kind: "int" | "float" | "bool" | "choice";
  optional: boolean; // may be unset (null)
  default: Value;
  least: number | null; // of int and float; null: unbounded
  most: number | null;
  /** If not null, the page offers only these values: the agent's memory or code depends on the parameter. */
  values: Value[] | null;
}

export interface Card {
  name: string; // in the notation
  title: string; // in tables: "LRTA*"
  summary: string;
  paper: string; // "Korf 1990"
  link: string; // of the paper, "" if there is none
  claims: string[]; // "real-time", "complete", ...
  living: boolean; // follows a map that changes
  pursues: boolean; // keeps what it knows when its goal moves a little
  crowd: boolean; // can be one of many units
  needs: string[]; // kinds of databases
  /** Walks on any map; if false, only on the map that `andante play` was given (it needs a database, or levels). */
  anywhere: boolean;
  parameters: Parameter[];
  examples: string[]; // settings worth trying, in the notation
  shown: string[]; // settings that a comparison shows
}

// --- the engine ------------------------------------------------------------------------------------------------------

export interface Ground {
  width: number;
  height: number;
  passable: Uint8Array; // 1 or 0 for each cell
  /** A map with the name and the size of the given one is that map after some edits. */
  name?: string;
}

/** The map that `andante play` was given, to which databases belong. */
export interface GivenMap extends Ground {
  name: string;
  databases: { kind: string; about: string }[];
  agents: string[]; // that walk on this map only, by name
}

export interface Engine {
  readonly version: string; // of Andante
  readonly cards: Card[];
  /** The map that `andante play MAP` was given; null without one. */
  readonly given: GivenMap | null;
  /** Make a world of a map, at most 1024 x 1024, for these agents: it has the levels that they plan over. */
  world(ground: Ground, agents?: readonly string[]): World;
  /** Return the notation in its normal form, "lrta(depth=3)"; throw EngineError if it is wrong. */
  normal(notation: string): string;
  /** Return why an agent cannot walk in this world as it is now, in a sentence; null if it can. */
  obstacle(world: World, notation: string, sight?: number | null): string | null;
  /** Make an agent; with `sight` it sees cells up to this far, and discovers its map. */
  agent(world: World, notation: string, start: Cell, goal: Cell, sight?: number | null): WalkingAgent;
  crowd(world: World, notation: string, options?: CrowdOptions): Crowd;
  /** Bytes of WebAssembly memory in use, and allocated in total. It never shrinks, but freed memory is used again. */
  memory(): { used: number; total: number };
}

export interface World {
  readonly width: number;
  readonly height: number;
  /** The cells as they are now; a new view, which must not be written to or kept. */
  readonly passable: Uint8Array;
  /** The number of changes so far. */
  readonly version: number;
  /** Open or close cells while agents walk, and return how many cells changed. */
  edit(cells: ArrayLike<Cell>, open: boolean): number;
  /** Return the optimal path, by A* of the same module; null if there is none. */
  optimal(start: Cell, goal: Cell): { cost: number; path: Int32Array; expanded: number } | null;
  /** Agents and crowds of a world must be disposed of first. */
  dispose(): void;
}

/** An opaque copy of an agent's mind, or of a world; `bytes` is its size. */
export interface Saved {
  readonly bytes: number;
}

/** What happened within one move, in order, as arrays of the same length. */
export interface Thoughts {
  kind: Uint8Array; // EXPANDED or LEARNED
  cell: Int32Array;
  value: Float64Array; // of LEARNED: the new value; of EXPANDED: the value in the search, if any
  lost: number; // thoughts for which there was no room
}
export const EXPANDED = 0;
export const LEARNED = 1;

export interface Step {
  to: Cell; // or STUCK, UNREACHABLE
  cost: number;
  expanded: number;
  touched: number;
  learned: number;
  stored: number; // states that got their first value
  thoughts: Thoughts | null; // if requested
  found: Int32Array; // cells that differ from what the agent believed, for an agent that discovers its map
}

export type Status = "walking" | "arrived" | "stuck" | "unreachable";

export interface WalkingAgent {
  readonly notation: string; // in its normal form
  readonly card: Card;
  readonly world: World;
  readonly state: Cell;
  readonly start: Cell;
  readonly goal: Cell;
  readonly sight: number | null; // cells that it sees far; null: it knows the map
  readonly status: Status;
  // of this problem, so far
  readonly moves: number;
  readonly cost: number;
  readonly expanded: number;
  readonly lastExpanded: number;
  readonly worstExpanded: number;
  readonly stored: number;
  /** Whether it searches because the map has changed since its database was built. */
  readonly astray: boolean;
  /** Bytes that it keeps from move to move, and bytes of scratch memory for one move. */
  readonly mindBytes: number;
  readonly deskBytes: number;

  /** Make one move, unless the agent has arrived. An unreachable goal may become reachable. */
  step(options?: { thoughts?: boolean }): Step;
  /** Make up to `most` moves, until the run ends or `expansions` are spent; return the cells visited, in order. */
  run(most: number, expansions?: number): Int32Array;
  /** Move the goal, and return whether the agent keeps what it knows. */
  retarget(goal: Cell): boolean;
  /** Put the agent somewhere else: a new trial begins, and it keeps what it has learned. */
  push(state: Cell): void;
  /** Start again, with nothing learned. */
  reset(start: Cell, goal: Cell): void;
  /** Return what it has learned in this problem, as cells and their values; null if it does not learn. */
  values(): { cell: Int32Array; value: Float64Array } | null;
  /** Return the path that it plans to follow from here, its own cell first; null if it has none. */
  plan(): Int32Array | null;
  /**
   * Return 1 for each cell where the agent's database is outdated, with the map as it is at some moment; null if all of
   * it is valid, or there is no database.
   */
  stale(passable: ArrayLike<number>, goal: Cell): Uint8Array | null;
  save(): Saved;
  restore(saved: Saved): void;
  dispose(): void;
}

// --- crowds ----------------------------------------------------------------------------------------------------------

export interface CrowdOptions {
  units?: number; // at most; 2,000 unless given
  bodies?: boolean; // one unit to a cell; false unless given
}

export interface Budget {
  expansions?: number;
  milliseconds?: number;
}

export interface Tick {
  number: number;
  moved: number;
  waiting: number; // wanted to move, but the budget was spent
  arrived: number;
  unreachable: number;
  stuck: number;
  restarted: number; // units that used most memory and had to start again
  expansions: number;
  milliseconds: number;
}

export interface Crowd {
  readonly notation: string;
  readonly card: Card;
  readonly world: World;
  /** Numbers of units are below this; those removed are used again. */
  readonly count: number;
  readonly mostUnits: number;
  readonly bytes: number;
  /** Add a unit and return its number. */
  add(start: Cell, goal: Cell): number;
  send(unit: number, goal: Cell): void;
  remove(unit: number): void;
  /** Let every unit move at most once, until the budget is spent; without one, let every unit move. */
  tick(budget?: Budget): Tick;
  /** By unit: its cell, -1 if there is no such unit. Filled into `into` if given, to avoid garbage. */
  states(into?: Int32Array): Int32Array;
  goals(into?: Int32Array): Int32Array;
  /** By unit: an index of OUTCOMES. */
  outcomes(into?: Uint8Array): Uint8Array;
  dispose(): void;
}

/** The state of a unit; "none" if there is no such unit. */
export const OUTCOMES = ["walking", "arrived", "stuck", "unreachable", "none"] as const;
export type UnitOutcome = (typeof OUTCOMES)[number];

// --- loading ---------------------------------------------------------------------------------------------------------

// index.ts exports
//
//   loadEngine(engine: Uint8Array, scene?: Uint8Array): Promise<Engine>
//
// `engine` is the file engine.bin that `make playground` makes, `scene` what `andante play` adds for its map. In the
// page both are elements that contain base64 of gzip:
//
//   <script type="application/gzip;base64" id="andante-engine">...</script>
//   <script type="application/gzip;base64" id="andante-scene">...</script>
//
// `embedded(id)` (index.ts) returns the bytes of such an element, or null. The built page has both elements, empty.
