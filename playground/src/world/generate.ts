/**
 * Generated maps: the same seed makes the same map as `andante.generate` in Python (src/andante/datasets/generate.py).
 */

import { Chance } from "./chance";
import { GROUND, type GridMap, WALL } from "./map";

/** An option of a kind of map: its name, default and range. */
export interface Option {
  readonly name: string;
  readonly label: string;
  readonly initial: number;
  readonly low: number;
  readonly high: number;
  readonly step: number;
}

export interface Kind {
  readonly name: string;
  readonly options: readonly Option[];
  make(chance: Chance, width: number, height: number, options: readonly number[]): Uint8Array;
}

const whole = (name: string, label: string, initial: number, low: number, high: number): Option => {
  return { name, label, initial, low, high, step: 1 };
};
const share = (name: string, label: string, initial: number, low: number, high: number): Option => {
  return { name, label, initial, low, high, step: 0.01 };
};

export const KINDS: readonly Kind[] = [
  {
    name: "rooms",
    options: [
      whole("size", "size of rooms", 16, 2, 128),
      whole("door_width", "width of doors", 1, 1, 128),
      share("door_share", "share of walls with a door", 0.5, 0, 1),
    ],
    make: (chance, width, height, [size, door, extra]) =>
      walled(chance, width, height, size!, door!, extra!),
  },
  {
    name: "caves",
    options: [share("rock", "share of rock", 0.5, 0.3, 0.55), whole("scale", "size of caves", 4, 1, 64)],
    make: (chance, width, height, [rock, scale]) => caves(chance, width, height, rock!, scale!),
  },
  {
    name: "maze",
    options: [whole("corridor", "width of corridors", 1, 1, 128), share("loops", "share of walls left out", 0, 0, 1)],
    make: (chance, width, height, [corridor, loops]) => walled(chance, width, height, corridor!, corridor!, loops!),
  },
  {
    name: "random",
    options: [share("density", "share of walls", 0.2, 0, 0.4)],
    make: (chance, width, height, [density]) => inverted(chance.cells(width * height, density!)),
  },
  { name: "empty", options: [], make: (_, width, height) => new Uint8Array(width * height).fill(1) },
];

/** The parameters of a generated map. */
export interface Recipe {
  readonly kind: string;
  readonly width: number;
  readonly height: number;
  readonly seed: number;
  readonly options: Readonly<Record<string, number>>;
}

export const LEAST_SIDE = 8;
export const MOST_SIDE = 1024;

export function generate(recipe: Recipe): GridMap {
  const { kind, width, height, seed } = recipe;
  const maker = KINDS.find((one) => one.name === kind);
  if (!maker) throw new Error(`there is no kind of map '${kind}'`);
  const options = maker.options.map((option) => {
    const value = recipe.options[option.name] ?? option.initial;
    return Math.min(option.high, Math.max(option.low, value));
  });
  const [size, door] = options;
  if (kind === "rooms" && door! > size!) throw new Error(`rooms: the width of doors must be at most ${size}, the size of rooms, not ${door}`);
  const free = maker.make(new Chance(seed), width, height, options);
  const spelled = maker.options
    .filter((option) => option.name in recipe.options)
    .map((option) => `${option.name}${recipe.options[option.name]}`)
    .sort();
  return {
    name: [kind, `${width}x${height}`, ...spelled, `seed${seed}`].join("-"),
    width,
    height,
    terrain: free.map((cell) => (cell ? GROUND : WALL)),
  };
}

/** Return the Python call that makes the same map. */
export function pythonOf({ kind, width, height, seed, options }: Recipe): string {
  const more = Object.entries(options).map(([name, value]) => `, ${name}=${value}`);
  return `andante.generate("${kind}", ${width}, ${height}, seed=${seed}${more.join("")})`;
}

function inverted(mask: Uint8Array): Uint8Array {
  return mask.map((cell) => 1 - cell);
}

// --- rooms and mazes ------------------------------------------------------------------------------------------------

/** Make connected chambers with walls of one cell between them. */
function walled(chance: Chance, width: number, height: number, size: number, door: number, extra: number): Uint8Array {
  const pitch = size + 1;
  const columns = Math.ceil(width / pitch);
  const rows = Math.ceil(height / pitch);
  const { east, south } = doors(chance, columns, rows, extra);
  const free = new Uint8Array(width * height);
  const begins = (length: (row: number, column: number) => number): Int32Array => {
    const thrown = chance.many(65536, rows * columns);
    return thrown.map((value, k) => {
      const room = Math.max(length(Math.floor(k / columns), k % columns) - door, 0) + 1;
      return Math.floor((value * room) / 65536);
    });
  };
  const eastBegin = begins((row) => Math.min(size, height - row * pitch));
  const southBegin = begins((_, column) => Math.min(size, width - column * pitch));
  for (let y = 0; y < height; y++) {
    const row = Math.floor(y / pitch);
    const dy = y % pitch;
    for (let x = 0; x < width; x++) {
      const column = Math.floor(x / pitch);
      const dx = x % pitch;
      const at = row * columns + column;
      const inDoor = (along: number, begin: number): boolean => along >= begin && along < begin + door && along < size;
      const open =
        (dy < size && dx < size) ||
        (dx === size && east[at] === 1 && inDoor(dy, eastBegin[at]!)) ||
        (dy === size && south[at] === 1 && inDoor(dx, southBegin[at]!));
      free[y * width + x] = open ? 1 : 0;
    }
  }
  return free;
}

/** Choose the chambers with a door to the east, and those with one to the south. */
function doors(chance: Chance, columns: number, rows: number, extra: number): { east: Uint8Array; south: Uint8Array } {
  const dice = chance.many(12, rows * columns);
  const east = new Uint8Array(rows * columns);
  const south = new Uint8Array(rows * columns);
  const seen = new Uint8Array(rows * columns);
  const trail = [0];
  seen[0] = 1;
  for (let throws = 0; trail.length > 0; ) {
    const at = trail[trail.length - 1]!;
    const x = at % columns;
    const y = (at - x) / columns;
    // For each exit: the chamber it leads to, and the chamber and wall that get the door.
    const exits: [number, Uint8Array, number][] = [];
    if (y > 0 && !seen[at - columns]) exits.push([at - columns, south, at - columns]);
    if (x + 1 < columns && !seen[at + 1]) exits.push([at + 1, east, at]);
    if (y + 1 < rows && !seen[at + columns]) exits.push([at + columns, south, at]);
    if (x > 0 && !seen[at - 1]) exits.push([at - 1, east, at - 1]);
    if (exits.length === 0) {
      trail.pop();
      continue;
    }
    const [to, wall, owner] = exits[dice[throws++]! % exits.length]!;
    wall[owner] = 1;
    seen[to] = 1;
    trail.push(to);
  }
  for (const wall of [east, south]) {
    const more = chance.cells(rows * columns, extra);
    for (let k = 0; k < more.length; k++) wall[k] = wall[k]! | more[k]!;
  }
  for (let row = 0; row < rows; row++) east[row * columns + columns - 1] = 0;
  south.fill(0, (rows - 1) * columns);
  return { east, south };
}

// --- caves ----------------------------------------------------------------------------------------------------------

function caves(chance: Chance, width: number, height: number, rock: number, scale: number): Uint8Array {
  const coarseWide = Math.ceil(width / scale);
  const coarseTall = Math.ceil(height / scale);
  let coarse = inverted(chance.cells(coarseWide * coarseTall, rock));
  for (let k = 0; k < 5; k++) coarse = atLeast(crowd(coarse, coarseWide, coarseTall, 1), 5);
  let free = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      free[y * width + x] = coarse[Math.floor(y / scale) * coarseWide + Math.floor(x / scale)]!;
    }
  }
  if (scale > 1) {
    const reach = Math.floor(scale / 2);
    const hills = landscape(chance, width, height, scale, 2);
    const around = crowd(free, width, height, reach);
    const area = (2 * reach + 1) ** 2;
    free = free.map((_, k) => (around[k]! > Math.floor((hills[k]! * area) / 2 ** 17) ? 1 : 0));
    free = atLeast(crowd(free, width, height, 1), 5);
  }
  if (!free.includes(1)) throw new Error(`caves: rock=${rock} leaves no free cell on ${width} x ${height} cells`);
  return joined(free, width, height, Math.max(12, 2 * scale * scale), Math.max(1, Math.floor(scale / 2)));
}

function atLeast(counts: Int32Array, least: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(counts, (count) => (count >= least ? 1 : 0));
}

/** Count the cells of the mask within `reach` columns and rows of each cell. */
function crowd(mask: Uint8Array, width: number, height: number, reach: number): Int32Array {
  const sums = new Int32Array((width + 1) * (height + 1));
  for (let y = 0; y < height; y++) {
    let row = 0;
    for (let x = 0; x < width; x++) {
      row += mask[y * width + x]!;
      sums[(y + 1) * (width + 1) + x + 1] = sums[y * (width + 1) + x + 1]! + row;
    }
  }
  const counts = new Int32Array(width * height);
  for (let y = 0; y < height; y++) {
    const top = Math.max(0, y - reach) * (width + 1);
    const bottom = Math.min(height, y + reach + 1) * (width + 1);
    for (let x = 0; x < width; x++) {
      const left = Math.max(0, x - reach);
      const right = Math.min(width, x + reach + 1);
      counts[y * width + x] = sums[bottom + right]! - sums[top + right]! - sums[bottom + left]! + sums[top + left]!;
    }
  }
  return counts;
}

/** Make smooth noise: hills about `spacing` cells apart, with finer ones of half the height on them. */
function landscape(chance: Chance, width: number, height: number, spacing: number, octaves: number): Int32Array {
  const total = new Int32Array(width * height);
  for (let octave = 0; octave < octaves; octave++) {
    const field = hills(chance, width, height, Math.max(1, spacing >> octave));
    for (let k = 0; k < total.length; k++) total[k] = total[k]! + (field[k]! >> octave);
  }
  return total;
}

function hills(chance: Chance, width: number, height: number, spacing: number): Int32Array {
  const columns = Math.floor(width / spacing) + 2;
  const rows = Math.floor(height / spacing) + 2;
  const lattice = chance.many(65536, rows * columns);
  const along = new Int32Array(rows * width);
  for (let row = 0; row < rows; row++) {
    for (let x = 0; x < width; x++) {
      const [point, rise] = slope(x, spacing);
      const left = lattice[row * columns + point]!;
      const right = lattice[row * columns + point + 1]!;
      along[row * width + x] = (left * (4096 - rise) + right * rise) >> 12;
    }
  }
  const field = new Int32Array(width * height);
  for (let y = 0; y < height; y++) {
    const [point, rise] = slope(y, spacing);
    for (let x = 0; x < width; x++) {
      field[y * width + x] = (along[point * width + x]! * (4096 - rise) + along[(point + 1) * width + x]! * rise) >> 12;
    }
  }
  return field;
}

/** Return the lattice point before a place, and the rise towards the next in 4096ths, level at both ends. */
function slope(place: number, spacing: number): [number, number] {
  const point = Math.floor(place / spacing);
  const offset = place - point * spacing;
  return [point, Math.floor((offset * offset * (3 * spacing - 2 * offset) * 4096) / spacing ** 3)];
}

// --- one region -----------------------------------------------------------------------------------------------------

type Point = readonly [x: number, y: number];

/** Make the free cells one region: large ones are joined by passages, smaller ones filled. */
function joined(free: Uint8Array, width: number, height: number, smallest: number, radius: number): Uint8Array {
  const { label, sizes } = regions(free, width, height);
  const order = sizes.map((_, k) => k).sort((a, b) => sizes[b]! - sizes[a]! || a - b);
  const kept = order.slice(0, Math.max(1, sizes.filter((size) => size >= smallest).length));
  const rims = rimsOf(label, kept, width, height);
  const dug = new Uint8Array(free.length);
  let together = rims[0]!;
  for (const rim of rims.slice(1)) {
    stamp(dug, width, height, line(...nearest(together, rim)), radius);
    together = together.concat(rim);
  }
  const stays = new Set(kept);
  return free.map((cell, k) => (dug[k] || (cell && stays.has(label[k]!)) ? 1 : 0));
}

/** Return the region of each free cell (-1 for walls), numbered from the top, and the sizes of the regions. */
export function regions(free: Uint8Array, width: number, height: number): { label: Int32Array; sizes: number[] } {
  const label = new Int32Array(free.length).fill(-1);
  const sizes: number[] = [];
  const queue: number[] = [];
  for (let first = 0; first < free.length; first++) {
    if (!free[first] || label[first]! >= 0) continue;
    label[first] = sizes.length;
    queue.push(first);
    let size = 0;
    while (queue.length > 0) {
      const cell = queue.pop()!;
      size++;
      const x = cell % width;
      // A diagonal needs both cells beside it, so straight moves find all.
      for (const next of [x > 0 ? cell - 1 : -1, x + 1 < width ? cell + 1 : -1, cell - width, cell + width]) {
        if (next < 0 || next >= width * height || !free[next] || label[next]! >= 0) continue;
        label[next] = sizes.length;
        queue.push(next);
      }
    }
    sizes.push(size);
  }
  return { label, sizes };
}

/** Return the cells at the rim of each region. */
function rimsOf(label: Int32Array, kept: readonly number[], width: number, height: number): Point[][] {
  const rims = new Map<number, Point[]>(kept.map((region) => [region, []]));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * width + x;
      const own = label[at]!;
      const inside =
        (y === 0 || label[at - width] === own) &&
        (y + 1 === height || label[at + width] === own) &&
        (x === 0 || label[at - 1] === own) &&
        (x + 1 === width || label[at + 1] === own);
      if (own >= 0 && !inside) rims.get(own)?.push([x, y]);
    }
  }
  return kept.map((region) => rims.get(region)!);
}

const MOST_PAIRS = 400_000;

/** Return a cell of each, approximately the closest pair. */
function nearest(a: readonly Point[], b: readonly Point[]): [Point, Point] {
  const few = every(b, 1 + Math.floor(b.length / 200));
  const many = every(a, 1 + Math.floor((a.length * few.length) / MOST_PAIRS));
  let best: [Point, Point] = [many[0]!, few[0]!];
  let least = Infinity;
  for (const one of many) {
    for (const other of few) {
      const apart = (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2;
      if (apart < least) {
        least = apart;
        best = [one, other];
      }
    }
  }
  return best;
}

function every<T>(list: readonly T[], stride: number): T[] {
  return list.filter((_, k) => k % stride === 0);
}

function line(a: Point, b: Point): Point[] {
  const steps = Math.max(Math.abs(b[0] - a[0]), Math.abs(b[1] - a[1]), 1);
  const half = Math.floor(steps / 2);
  const at = (from: number, to: number, k: number): number => from + Math.floor(((to - from) * k + half) / steps);
  return Array.from({ length: steps + 1 }, (_, k) => [at(a[0], b[0], k), at(a[1], b[1], k)] as const);
}

/** Set the cells within `radius` of any of the points. */
function stamp(mask: Uint8Array, width: number, height: number, points: readonly Point[], radius: number): void {
  for (const [x, y] of points) {
    for (let dy = -radius; dy <= radius; dy++) {
      for (let dx = -radius; dx <= radius; dx++) {
        const [cx, cy] = [x + dx, y + dy];
        if (dx * dx + dy * dy > radius * radius + radius || cx < 0 || cy < 0 || cx >= width || cy >= height) continue;
        mask[cy * width + cx] = 1;
      }
    }
  }
}
