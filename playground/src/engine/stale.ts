/**
 * Cells with outdated entries in a database, because the map has changed since it was built.
 *
 * This is only for the page. Agents do not use it: they notice when a move is no longer possible (`episode/detour.py`).
 * The format of files is described in docs/explanation/database-files.md.
 */

import { openMoves, type Size, STEPS } from "./files";
import type { Cell } from "./types";

const DIAGONAL = Math.round(Math.SQRT2 * 2 ** 32) / 2 ** 32; // as in Python, where sums of costs are exact
const [LONGEST, SHORTEST] = [60, 61]; // greedy moves of a `moves` database: among equals the most or the least expensive

/** The directions of each set of bits, north first, then clockwise. */
const DIRECTIONS = Array.from({ length: 256 }, (_, bits) => STEPS.map((_, direction) => direction).filter((direction) => (bits >> direction) & 1));

/** A map, as it was when databases were built or as it is now. */
class Chart {
  readonly moves: Uint8Array; // a bit for each direction that leads from a cell

  constructor(
    readonly size: Size,
    passable: ArrayLike<number>,
  ) {
    this.moves = openMoves(size);
    const { width } = size;
    for (let cell = 0; cell < this.moves.length; cell++) {
      let bits = 0;
      if (passable[cell]) {
        for (const direction of DIRECTIONS[this.moves[cell]!]!) {
          const [dx, dy] = STEPS[direction]!;
          // A diagonal move needs both cells beside it.
          if (passable[cell + dx + dy * width] && passable[cell + dx] && passable[cell + dy * width]) bits |= 1 << direction;
        }
      }
      this.moves[cell] = bits;
    }
  }

  leads(cell: Cell, direction: number): boolean {
    return ((this.moves[cell]! >> direction) & 1) === 1;
  }

  directions(cell: Cell): readonly number[] {
    return DIRECTIONS[this.moves[cell]!]!;
  }

  to(cell: Cell, direction: number): Cell {
    return cell + STEPS[direction]![0] + STEPS[direction]![1] * this.size.width;
  }

  distance(cell: Cell, goal: Cell): number {
    const { width } = this.size;
    const dx = Math.abs((cell % width) - (goal % width));
    const dy = Math.abs(Math.floor(cell / width) - Math.floor(goal / width));
    return Math.abs(dx - dy) + Math.min(dx, dy) * DIAGONAL;
  }

  /** Return the direction with the least cost and distance to a goal: of equal ones the first, or as the code says. */
  greedy(cell: Cell, goal: Cell, code = 0): number {
    let [best, least, price] = [-1, Infinity, 0];
    for (const direction of this.directions(cell)) {
      const cost = direction % 2 === 0 ? 1 : DIAGONAL;
      const f = cost + this.distance(this.to(cell, direction), goal);
      const preferred = (code === LONGEST && cost > price) || (code === SHORTEST && cost < price);
      if (f < least || (f === least && preferred)) [best, least, price] = [direction, f, cost];
    }
    return best;
  }

  /** Return the direction of a climb to a goal; -1 if the distance does not fall. */
  down(cell: Cell, goal: Cell): number {
    const first = this.greedy(cell, goal);
    return first >= 0 && this.distance(this.to(cell, first), goal) < this.distance(cell, goal) ? first : -1;
  }
}

/** Finds the outdated entries of one database. */
export class StaleEntries {
  private readonly then: Chart;
  private readonly find: (now: Chart, goal: Cell, changed: readonly Cell[]) => Uint8Array;

  /** Read a file, of which a copy is kept, and the map that it was built for. */
  constructor(
    kind: string,
    file: Uint8Array,
    private readonly size: Size,
    passable: ArrayLike<number>,
  ) {
    const then = (this.then = new Chart(size, passable));
    const arrays = arraysIn(file.slice());
    if (kind === "moves") {
      const read = firstMoves(arrays, then);
      this.find = (now, goal) => astray(read, then, now, goal);
    } else if (kind === "subgoals") {
      this.find = (now) => brokenRecords(arrays, then, now);
    } else {
      const regionOf = kind === "pattern" ? patternRegions(arrays) : climbingRegions(arrays);
      this.find = (_, __, changed) => changedRegions(regionOf, changed, then.moves.length);
    }
  }

  /** Return 1 for each cell with outdated entries; null if all entries are valid. */
  cells(passable: ArrayLike<number>, goal: Cell): Uint8Array | null {
    const now = new Chart(this.size, passable);
    const changed: Cell[] = [];
    for (let cell = 0; cell < now.moves.length; cell++) if (now.moves[cell] !== this.then.moves[cell]) changed.push(cell);
    return changed.length === 0 ? null : this.find(now, goal, changed);
  }
}

// --- moves: from here the database no longer leads to the goal -------------------------------------------------------

function astray(read: (cell: Cell, goal: Cell) => number, then: Chart, now: Chart, goal: Cell): Uint8Array {
  const [UNKNOWN, HOLDS, STALE] = [0, 1, 2];
  const found = new Uint8Array(then.moves.length);
  found[goal] = HOLDS;
  for (let begin = 0; begin < found.length; begin++) {
    const way: Cell[] = [];
    let here = begin;
    while (found[here] === UNKNOWN && then.moves[here]) {
      way.push(here);
      found[here] = HOLDS; // until the result is known, so that circles end
      const direction = read(here, goal);
      if (direction < 0) break;
      if (!now.leads(here, direction)) {
        found[here] = STALE;
        break;
      }
      here = then.to(here, direction);
    }
    if (found[here] === STALE) for (const cell of way) found[cell] = STALE;
  }
  return found.map((state) => (state === STALE ? 1 : 0));
}

/** Look up the first move towards a goal in a `moves` database, as a direction; -1 if there is none. */
function firstMoves(arrays: Arrays, then: Chart): (cell: Cell, goal: Cell) => number {
  const [rank, first, word] = [arrays.numbers("rank"), arrays.numbers("first"), arrays.numbers("word")];
  const limit = new DataView(new ArrayBuffer(4));
  return (cell, goal) => {
    const [row, place] = [rank[cell]!, rank[goal]!];
    if (row < 0 || place < 0) return -1;
    const directions = then.directions(cell);
    const begin = Math.floor(first[row]! / 64);
    const borders = first[row]! % 64;
    let [low, high] = [begin + 3 * borders, Math.floor(first[row + 1]! / 64)];
    let code = 62;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (Math.floor(word[middle]! / 64) <= place) [code, low] = [word[middle]! % 64, middle + 1];
      else high = middle;
    }
    if (code >= directions.length && code < LONGEST) {
      const border = begin + 3 * (code - directions.length);
      const [one, other] = [word[border]!, word[border + 1]!];
      limit.setUint32(0, word[border + 2]!);
      const farther = then.distance(Math.floor(one / 64), goal) - then.distance(Math.floor(other / 64), goal);
      code = (farther <= limit.getFloat32(0) ? one : other) % 64;
    }
    if (code < directions.length) return directions[code]!;
    if (code !== LONGEST && code !== SHORTEST) return -1;
    return then.greedy(cell, goal, code);
  };
}

// --- subgoals: the paths of solved problems that have become impossible ----------------------------------------------

function brokenRecords(arrays: Arrays, then: Chart, now: Chart): Uint8Array {
  const [start, goal] = [arrays.numbers("start"), arrays.numbers("goal")];
  const [first, subgoal] = [arrays.numbers("first"), arrays.numbers("subgoal")];
  const found = new Uint8Array(then.moves.length);
  for (let record = 0; record < start.length; record++) {
    const way: Cell[] = [start[record]!];
    let holds = true;
    for (const aim of [...Array.from(subgoal.subarray(first[record], first[record + 1])), goal[record]!]) {
      for (let here = way[way.length - 1]!; here !== aim; ) {
        const direction = then.down(here, aim);
        if (direction < 0) break;
        holds &&= now.leads(here, direction);
        here = then.to(here, direction);
        way.push(here);
      }
    }
    if (!holds) for (const cell of way) found[cell] = 1;
  }
  return found;
}

// --- pattern, regions: all of a region in which something has changed ------------------------------------------------

function changedRegions(regionOf: (cell: Cell) => number, changed: readonly Cell[], cells: number): Uint8Array {
  const regions = new Set(changed.map(regionOf));
  regions.delete(-1);
  return Uint8Array.from({ length: cells }, (_, cell) => (regions.has(regionOf(cell)) ? 1 : 0));
}

function patternRegions(arrays: Arrays): (cell: Cell) => number {
  const [run, owner] = [arrays.numbers("run"), arrays.numbers("owner")];
  return (cell) => Math.max(-1, owner[lastUpTo(run, 0, run.length, cell)] ?? -1);
}

function climbingRegions(arrays: Arrays): (cell: Cell) => number {
  const [block, begin, region] = [arrays.numbers("block"), arrays.numbers("begin"), arrays.numbers("region")];
  return (cell) => {
    const number = Math.floor(cell / 256);
    return region[lastUpTo(begin, block[number]!, block[number + 1]!, cell % 256)] ?? -1;
  };
}

/** Return the index of the last of some ascending numbers that is at most a value. */
function lastUpTo(numbers: Numbers, from: number, end: number, value: number): number {
  let [low, high] = [from, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// --- files -----------------------------------------------------------------------------------------------------------

const [HEAD, ENTRY] = [96, 64];

type Numbers = Int32Array | Uint32Array | Uint16Array | Uint8Array | Float64Array;

interface Arrays {
  numbers(name: string): Numbers;
}

/** Return the arrays of a database; 64-bit ones as numbers of JavaScript, which are exact up to 2**53. */
function arraysIn(file: Uint8Array): Arrays {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const text = (at: number, length: number): string => new TextDecoder().decode(file.slice(at, at + length)).replace(/\0.*$/s, "");
  const entries = Array.from({ length: view.getUint32(24, true) }, (_, i) => HEAD + ENTRY * i);
  return {
    numbers(name) {
      const entry = entries.find((at) => text(at, 24) === name);
      if (entry === undefined) throw new Error(`a database has no array ${name}`);
      const length = Number(view.getBigUint64(entry + 32, true));
      const at = file.byteOffset + Number(view.getBigUint64(entry + 56, true));
      const { buffer } = file;
      switch (text(entry + 24, 4)) {
        case "i4":
          return new Int32Array(buffer, at, length);
        case "u4":
          return new Uint32Array(buffer, at, length);
        case "u2":
          return new Uint16Array(buffer, at, length);
        case "u1":
          return new Uint8Array(buffer, at, length);
        case "i8":
          return Float64Array.from(new BigInt64Array(buffer as ArrayBuffer, at, length), Number);
        default:
          throw new Error(`a database has an array of ${text(entry + 24, 4)}`);
      }
    },
  };
}
