/**
 * Cells with outdated entries in a database, because the map has changed since it was built.
 *
 * This is only for the page. Agents do not use it: they notice when a move is no longer possible (`episode/detour.py`).
 * The format of files is described in docs/explanation/database-files.md.
 */

import type { Size } from "./files";
import type { Cell } from "./types";

const DIAGONAL = Math.round(Math.SQRT2 * 2 ** 32) / 2 ** 32; // as in Python, where sums of costs are exact
const STEPS = [[0, -1], [1, -1], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1]] as const;
const [LONGEST, SHORTEST] = [60, 61]; // greedy moves of a `moves` database: among equals the most or the least expensive

/** A map, as it was when databases were built or as it is now. */
export class Chart {
  constructor(
    readonly size: Size,
    readonly passable: ArrayLike<number>,
  ) {}

  /** Return whether a move leads from a cell in a direction; a diagonal one needs both cells beside it. */
  leads(cell: Cell, direction: number): boolean {
    const { width, height } = this.size;
    const [dx, dy] = STEPS[direction]!;
    const [x, y] = [(cell % width) + dx, Math.floor(cell / width) + dy];
    if (x < 0 || y < 0 || x >= width || y >= height || !this.passable[cell] || !this.passable[y * width + x]) return false;
    return dx === 0 || dy === 0 || Boolean(this.passable[cell + dx] && this.passable[cell + dy * width]);
  }

  /** Return the directions that lead from a cell, north first, then clockwise. */
  directions(cell: Cell): number[] {
    return STEPS.map((_, direction) => direction).filter((direction) => this.leads(cell, direction));
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

  /** Return the directions with the least cost plus distance to a goal, with their costs. */
  greedy(cell: Cell, goal: Cell): { direction: number; cost: number }[] {
    let least = Infinity;
    let best: { direction: number; cost: number }[] = [];
    for (const direction of this.directions(cell)) {
      const cost = direction % 2 === 0 ? 1 : DIAGONAL;
      const f = cost + this.distance(this.to(cell, direction), goal);
      if (f < least) [least, best] = [f, []];
      if (f === least) best.push({ direction, cost });
    }
    return best;
  }

  /** Return the direction of a climb to a goal; -1 if the distance does not fall. */
  down(cell: Cell, goal: Cell): number {
    const first = this.greedy(cell, goal)[0];
    if (first === undefined) return -1;
    return this.distance(this.to(cell, first.direction), goal) < this.distance(cell, goal) ? first.direction : -1;
  }
}

/** Return 1 for each cell with outdated entries in a database; null if all entries are valid. */
export function staleCells(kind: string, file: Uint8Array, then: Chart, now: Chart, goal: Cell): Uint8Array | null {
  const changed = changedCells(then, now);
  if (changed.length === 0) return null;
  const arrays = arraysIn(file);
  if (kind === "moves") return astray(arrays, then, now, goal);
  if (kind === "subgoals") return brokenRecords(arrays, then, now);
  return changedRegions(kind === "pattern" ? patternRegions(arrays) : climbingRegions(arrays), changed, then.passable.length);
}

/** Return the cells whose directions have changed. */
function changedCells(then: Chart, now: Chart): Cell[] {
  const { width } = then.size;
  const near = new Set<Cell>();
  for (let cell = 0; cell < then.passable.length; cell++) {
    if (!then.passable[cell] === !now.passable[cell]) continue;
    near.add(cell);
    for (const [dx, dy] of STEPS) near.add(cell + dx + dy * width);
  }
  return [...near].filter((cell) => STEPS.some((_, direction) => then.leads(cell, direction) !== now.leads(cell, direction)));
}

// --- moves: from here the database no longer leads to the goal -------------------------------------------------------

function astray(arrays: Arrays, then: Chart, now: Chart, goal: Cell): Uint8Array {
  const [UNKNOWN, HOLDS, STALE] = [0, 1, 2];
  const found = new Uint8Array(then.passable.length);
  found[goal] = HOLDS;
  const read = firstMoves(arrays, then);
  for (let begin = 0; begin < found.length; begin++) {
    const way: Cell[] = [];
    let here = begin;
    while (found[here] === UNKNOWN && then.passable[here]) {
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
    const sign = code === LONGEST ? -1 : 1;
    const [best] = then.greedy(cell, goal).sort((a, b) => sign * (a.cost - b.cost) || a.direction - b.direction);
    return best?.direction ?? -1;
  };
}

// --- subgoals: the paths of solved problems that have become impossible ----------------------------------------------

function brokenRecords(arrays: Arrays, then: Chart, now: Chart): Uint8Array {
  const [start, goal] = [arrays.numbers("start"), arrays.numbers("goal")];
  const [first, subgoal] = [arrays.numbers("first"), arrays.numbers("subgoal")];
  const found = new Uint8Array(then.passable.length);
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
