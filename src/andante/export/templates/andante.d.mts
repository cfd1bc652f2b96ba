// Written by `andante export`.

export type AgentName = @NAMES@;
export type Outcome = @OUTCOMES@;

export declare const STUCK: -1;
export declare const UNREACHABLE: -2;
export declare const OUTCOMES: readonly Outcome[];

export interface Move {
  /** The next state, the state itself to wait, STUCK or UNREACHABLE. */
  to: number;
  cost: number;
  expanded: number;
  touched: number;
  learned: number;
  stored: number;
}

export interface Trial {
  outcome: Outcome;
  /** The states visited, the start first. */
  path: number[];
  cost: number;
  moves: number;
  expanded: number;
}

/** A limit that is 0 or missing is no limit. */
export interface Limits {
  cost?: number;
  moves?: number;
  expansions?: number;
}

export interface Ground {
  readonly states: number;
  readonly width: number;
  readonly height: number;
  readonly living: boolean;
  close(cell: number): void;
  open(cell: number): void;
  /** Of a map that changes. */
  save(): Uint8Array;
  restore(saved: Uint8Array): void;
}

export interface File {
  readonly at: number;
  readonly bytes: number;
}

export interface Agent {
  readonly name: AgentName;
  move(state: number, goal: number): Move;
  retarget(goal: number): boolean;
  run(start: number, goal: number, limits?: Limits): Trial;
  forget(): void;
  save(): Uint8Array;
  restore(mind: Uint8Array): void;
}

export interface Unit {
  outcome: Outcome;
  state: number;
  goal: number;
  moves: number;
  cost: number;
  expanded: number;
  restarts: number;
}

export interface Tick {
  /** With `pauseWhenFull`: memory is full, and the tick is not finished. */
  full: boolean;
@TICK@
}

export interface Crowd {
  readonly name: AgentName;
  add(start: number, goal: number, priority?: number): number;
  send(unit: number, goal: number): void;
  put(unit: number, state: number): void;
  remove(unit: number): void;
  unit(unit: number): Unit;
  /** x and y of all units, by number: [x0, y0, x1, y1, ...]. */
  cells(): Int32Array;
  tick(budget?: { expansions?: number; microseconds?: number; pauseWhenFull?: boolean }): Tick;
  grow(plan: Uint8Array | File): void;
  save(): Uint8Array;
  restore(memory: Uint8Array): void;
}

export interface Andante {
  readonly names: AgentName[];
  file(data: Uint8Array): File;
  map(data: Uint8Array): Ground;
  agent(name: AgentName, files: { plan: Uint8Array | File; map: Ground; databases?: (Uint8Array | File)[] }): Agent;
  crowd(name: AgentName, files: { plan: Uint8Array | File; map: Ground; databases?: (Uint8Array | File)[] }): Crowd;
}

export declare function load(source: BufferSource | WebAssembly.Module): Promise<Andante>;
