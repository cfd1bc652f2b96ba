// Files that the module checks before it uses them: plans of agents and images of maps, made from formulas.
// Their format: docs/explanation/database-files.md.

import {
  type AboutEngine,
  type AboutLevels,
  type By,
  type Content,
  type CrowdPeeks,
  DESK,
  type Formula,
  type Held,
  type Layout,
  MAP,
  MIND,
  NUMBER,
  type Peeks,
  PIECE,
  PLAN,
  type Recipe,
  read,
} from "./about";
import { aligned } from "./memory";
import { coded } from "./notation";
import type { Value } from "./types";

const HEAD = 96;
const ENTRY = 64;
const BEGIN = aligned(HEAD + ENTRY); // of the numbers, the only array that is named in files of the page

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Return a feature that numbers can depend on, as andante.play.recipes computes it. Products stay below 2**53. */
function feature(name: string, { width, height }: Size): number {
  const columns = Math.ceil(width / 4);
  switch (name) {
    case "cells":
      return width * height;
    case "width":
      return width;
    case "height":
      return height;
    case "logged":
      return Math.max(1024, 2 ** Math.ceil(Math.log2(width * height)));
    case "tile_columns":
      return columns;
    case "tiles":
      return columns * (Math.floor(height / 4) + 1);
    case "pages":
      return Math.ceil((width * height) / 16);
    case "shift":
      return shift(width);
    case "factor":
      return factor(width);
    case "cells_shift":
      return shift(width * height);
    case "cells_factor":
      return factor(width * height);
    default:
      throw new Error(`there is no feature ${name}`);
  }
}

/** To divide by a number is to multiply by a factor and to shift. */
function shift(divisor: number): number {
  return 31 + (divisor > 1 ? 32 - Math.clz32(divisor - 1) : 0);
}

function factor(divisor: number): number {
  return Math.ceil(2 ** shift(divisor) / divisor);
}

export function evaluated(formula: Formula, size: Size): bigint {
  if (typeof formula === "number" || typeof formula === "string") return BigInt(formula);
  const named = typeof formula[0] === "string";
  const [a, b, c] = (named ? formula.slice(1) : formula) as [number, number, (number | "lined")?];
  const value = a * feature(named ? String(formula[0]) : "cells", size) + b;
  if (c === "lined") return BigInt(aligned(value));
  return BigInt(c === undefined ? value : Math.min(value, c));
}

export function inColumn<T>(value: By<T>, column: number): T {
  return typeof value === "object" && value !== null && "by" in value ? value.by[column]! : (value as T);
}

function head(file: Uint8Array, about: AboutEngine, kind: string, numbers: number): void {
  const view = new DataView(file.buffer, file.byteOffset);
  const text = new TextEncoder();
  file.set(text.encode("andante\n"), 0);
  view.setUint32(8, about.file_version, true);
  view.setBigUint64(16, BigInt(file.length), true);
  view.setUint32(24, 1, true);
  file.set(text.encode(kind), 32);
  file.set(text.encode("numbers"), HEAD);
  file.set(text.encode("i8"), HEAD + 24);
  view.setUint32(HEAD + 28, 1, true);
  view.setBigUint64(HEAD + 32, BigInt(numbers), true);
  view.setBigUint64(HEAD + 56, BigInt(BEGIN), true);
}

function putNumbers(file: Uint8Array, names: readonly string[], known: Record<string, bigint | number>): void {
  const view = new DataView(file.buffer, file.byteOffset);
  names.forEach((name, i) => view.setBigInt64(BEGIN + 8 * i, BigInt(known[name] ?? 0), true));
}

// --- maps ------------------------------------------------------------------------------------------------------------

export interface MapLayout {
  bytes: number;
  image: number; // bytes before the levels
  arrays: Map<string, { at: number; bytes: number; content: string | { steps: [number, number][] } }>;
  contexts: Map<string, number>;
  levels: { name: string; context: number }[];
  table: number; // of levels
}

/** Return where everything is in the image of a map of this size, followed by these levels. */
export function mapLayout(about: AboutEngine, size: Size, levels: Readonly<Record<string, AboutLevels>>): MapLayout {
  let end = aligned(BEGIN + 8 * about.map_numbers.length);
  const put = (bytes: number): number => {
    const at = end;
    end = aligned(at + bytes);
    return at;
  };
  const arrays: MapLayout["arrays"] = new Map();
  for (const [name, formula, content] of about.map.arrays) {
    const bytes = Number(evaluated(formula, size));
    arrays.set(name, { at: put(bytes), bytes, content });
  }
  const contexts = new Map(Object.entries(about.map.contexts).map(([name, words]) => [name, put(16 * words.length)]));
  const carried = Object.entries(levels);
  const table = put(24 * carried.length);
  const above = carried.map(([name, { words }]) => ({ name, context: put(16 * words.length) }));
  const image = end;
  for (const [name, { bytes }] of carried) arrays.set(name, { at: put(bytes), bytes, content: "" });
  return { bytes: end, image, arrays, contexts, levels: above, table };
}

/** Write the image of a map in which all cells are closed, as a map that changes. */
export function writeMap(file: Uint8Array, about: AboutEngine, layout: MapLayout, size: Size): void {
  const { width, height } = size;
  file.fill(0, 0, layout.image);
  head(file, about, "world", about.map_numbers.length);
  const view = new DataView(file.buffer, file.byteOffset);
  view.setUint32(12, mapMark(width, height), true);
  const place = (name: string): number => layout.arrays.get(name)!.at;
  const known: Record<string, bigint | number> = {
    states: width * height,
    width,
    height,
    living: 1,
    passable: place("passable"),
    changes: place("changes_scalars"),
    sweeps: place("parts_scalars") + about.map.sweeps,
    code: BigInt(about.map.code),
    world_bytes: layout.bytes,
  };
  for (const [name, words] of Object.entries(about.map.contexts)) {
    const at = layout.contexts.get(name)!;
    known[name] = at;
    known[`${name}_words`] = words.length;
    words.forEach(([segment, which, formula], i) => {
      const inside = segment === MAP ? BigInt(place(String(which))) : 0n;
      view.setBigInt64(at + 16 * i, evaluated(formula, size) + inside, true);
      view.setBigInt64(at + 16 * i + 8, BigInt(segment), true);
    });
  }
  putNumbers(file, about.map_numbers, known);
  for (const [name] of about.map.arrays) writeMapArray(file, layout, name, width);
}

/** Write the levels above a map, which must be unchanged since they were made, and let them follow it. */
export function writeLevels(
  file: Uint8Array,
  about: AboutEngine,
  layout: MapLayout,
  levels: Readonly<Record<string, AboutLevels>>,
  held: Uint8Array,
): void {
  const view = new DataView(file.buffer, file.byteOffset);
  const place = (name: string): number => layout.arrays.get(name)!.at;
  layout.levels.forEach(({ name, context }, i) => {
    const { bytes, initial, version, words } = levels[name]!;
    const room = file.subarray(place(name), place(name) + bytes);
    clearUsed(room);
    for (const [at, size, content] of initial) fillWith(room.subarray(at, at + size), contents(content, held));
    words.forEach(([segment, which, number], k) => {
      view.setBigInt64(context + 16 * k, BigInt(number) + (segment === MAP ? BigInt(place(String(which))) : 0n), true);
      view.setBigInt64(context + 16 * k + 8, BigInt(segment), true);
    });
    [context, words.length, place(name) + version].forEach((number, k) => {
      view.setBigInt64(layout.table + 24 * i + 8 * k, BigInt(number), true);
    });
  });
  const known = { levels: layout.table, levels_count: layout.levels.length, levels_code: about.map.levels_code };
  for (const [name, number] of Object.entries(known)) {
    view.setBigInt64(BEGIN + 8 * about.map_numbers.indexOf(name), BigInt(number), true);
  }
}

/** Clear memory of which little is used; zeros are not written to, because the system may not have provided them yet. */
function clearUsed(memory: Uint8Array): void {
  const words = new BigUint64Array(memory.buffer, memory.byteOffset, memory.length / 8);
  for (let i = 0; i < words.length; i++) if (words[i] !== 0n) words[i] = 0n;
}

/** Write one array of a map as it is while all cells are closed. */
export function writeMapArray(file: Uint8Array, layout: MapLayout, name: string, width: number): void {
  const { at, bytes, content } = layout.arrays.get(name)!;
  if (typeof content !== "string") {
    const view = new DataView(file.buffer, file.byteOffset + at);
    content.steps.forEach(([dx, dy], i) => view.setBigInt64(8 * i, BigInt(dx + dy * width), true));
  } else if (content === "x" || content === "y") {
    const cells = new Int16Array(file.buffer, file.byteOffset + at, bytes / 2);
    for (let i = 0; i < cells.length; i++) cells[i] = content === "x" ? i % width : Math.floor(i / width);
  } else {
    repeat(file.subarray(at, at + bytes), content);
  }
}

function repeat(memory: Uint8Array, hex: string): void {
  if (hex.length <= 2) {
    memory.fill(hex === "" ? 0 : parseInt(hex, 16));
    return;
  }
  fillWith(memory, unhex(hex));
}

/** Repeat a pattern to the end of a piece of memory. */
function fillWith(memory: Uint8Array, pattern: Uint8Array): void {
  for (let done = 0; done < memory.length; done += pattern.length) {
    memory.set(pattern.subarray(0, Math.min(pattern.length, memory.length - done)), done);
  }
}

/** Return the bytes that an entry of the JSON describes. */
export function contents(file: string | Held, held: Uint8Array): Uint8Array {
  return typeof file === "string" ? unhex(file) : held.subarray(file.at, file.at + file.bytes);
}

function unhex(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) => parseInt(hex.slice(2 * i, 2 * i + 2), 16));
}

/** The directions of moves, north first, then clockwise. */
export const STEPS = [[0, -1], [1, -1], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1]] as const;

/** Return the moves of all cells of a map without walls: a bit for each direction, north first, then clockwise. */
export function openMoves({ width, height }: Size): Uint8Array {
  const moves = new Uint8Array(width * height).fill(255);
  const close = (cell: number, dx: number, dy: number): void => {
    STEPS.forEach(([x, y], d) => {
      if ((dx !== 0 && x === dx) || (dy !== 0 && y === dy)) moves[cell]! &= ~(1 << d);
    });
  };
  for (let x = 0; x < width; x++) {
    close(x, 0, -1);
    close((height - 1) * width + x, 0, 1);
  }
  for (let y = 0; y < height; y++) {
    close(y * width, -1, 0);
    close(y * width + width - 1, 1, 0);
  }
  return moves;
}

/** Return a number for the size of a map. It replaces the checksum, which a map that changes does not have. */
export function mapMark(width: number, height: number): number {
  return (width * 65536 + height) >>> 0;
}

// --- plans -----------------------------------------------------------------------------------------------------------

export interface MapPlaces {
  mark: number; // checksum
  place(array: string): number;
}

/** Choose the layout for a setting, and its column; null if the page does not have this combination. */
export function variant(recipe: Recipe, values: ReadonlyMap<string, Value>, write: (name: string, value: Value) => string) {
  const classes = recipe.shaping.map((one) => one.classes[one.values.indexOf(write(one.name, values.get(one.name)!))]);
  const found = recipe.variants[classes.join(",")];
  return found === undefined ? null : { layout: recipe.layouts[found[0]]!, column: found[1] };
}

/** A database in the module's memory. */
export interface Database {
  kind: string;
  at: number;
  bytes: number;
  checksum: number;
}

/** A recipe with what it refers to. */
export interface Known {
  recipe: Recipe;
  held: Uint8Array; // what is behind the JSON that the recipe is from
  databases: readonly Database[]; // in the order of the recipe
}

/** The parts of a plan. */
export interface Order extends Known {
  layout: Layout;
  column: number;
  values: ReadonlyMap<string, Value>;
  size: Size;
  map: MapPlaces;
  /** How far an agent sees that discovers its map, in cells. */
  sight: number | null;
}

/** Where pieces of memory are in their segments, and their initial contents. */
class Arrangement {
  readonly numbers: bigint[];
  readonly used = new Map<number, number>();
  readonly initial: number[][] = [];
  readonly data: Uint8Array[] = [];
  readonly places: number[];

  constructor(
    private readonly order: Order,
    begins: number, // bytes that the mind begins with
  ) {
    const { layout, column, size } = order;
    this.numbers = layout.symbols.map((symbol) => evaluated(inColumn(symbol, column), size));
    this.used.set(MIND, begins).set(DESK, 0).set(PLAN, 0);
    this.places = layout.pieces.map(([segment, symbol, content, once]) => this.put(segment, Number(this.numbers[symbol]!), content, once === 1));
  }

  private put(segment: number, bytes: number, content: Content, once: boolean): number {
    const pattern = this.pattern(content);
    if (segment === PLAN) {
      const whole = new Uint8Array(bytes);
      if (pattern.length > 0) for (let i = 0; i < bytes; i += pattern.length) whole.set(pattern.subarray(0, bytes - i), i);
      return this.keep(whole);
    }
    const at = this.used.get(segment)!;
    this.used.set(segment, at + aligned(bytes));
    if (pattern.length > 0) this.initial.push([segment, at, once ? pattern.length : bytes, this.keep(pattern), pattern.length]);
    return at;
  }

  private pattern(content: Content): Uint8Array {
    if (content === "open") return openMoves(this.order.size);
    if (!Array.isArray(content)) return contents(content, this.order.held);
    const words = BigInt64Array.from(content, (symbol) => this.numbers[symbol]!);
    return new Uint8Array(words.buffer);
  }

  private keep(bytes: Uint8Array): number {
    const at = this.used.get(PLAN)!;
    const padded = new Uint8Array(aligned(bytes.length));
    padded.set(bytes);
    this.data.push(padded);
    this.used.set(PLAN, at + padded.length);
    return at;
  }

  /** The offset in its segment of what a word points to. */
  placeOf(word: number): number {
    const [, which, symbol] = this.order.layout.words[word]!;
    return this.places[Number(which)]! + Number(this.numbers[symbol]!);
  }

  /** The value of a word that is a number. */
  numberOf(word: number): number {
    return Number(this.numbers[this.order.layout.words[word]![2]]!);
  }
}

/** Write the plan of an agent's memory on a map. */
export function agentPlan(about: AboutEngine, order: Order): Uint8Array {
  const arranged = new Arrangement(order, about.mind_begins);
  const clock = arranged.placeOf((order.layout.peeks as Peeks).clock);
  const sighted = order.sight === null ? 0 : 1;
  return planFile(about, order, arranged, "agent", about.plan_numbers, order.layout.words.length, { clock, sighted });
}

/** Write the plan of a crowd's memory on a map. */
export function crowdPlan(about: AboutEngine, order: Order): { data: Uint8Array; mostUnits: number; units: number } {
  const arranged = new Arrangement(order, about.crowd_begins);
  const peeks = order.layout.peeks as CrowdPeeks;
  const known: Record<string, number> = { ...peeks.begins, bodies: peeks.bodies };
  for (const [name, word] of Object.entries(peeks.tables)) known[name] = arranged.placeOf(word);
  for (const [name, word] of Object.entries(peeks.numbers)) known[name] = arranged.numberOf(word);
  const data = planFile(about, order, arranged, "crowd", about.crowd_numbers, peeks.words, known);
  return { data, mostUnits: known["most_units"]!, units: known["units"]! };
}

function planFile(
  about: AboutEngine,
  order: Order,
  arranged: Arrangement,
  kind: string,
  names: readonly string[],
  words: number,
  known: Record<string, bigint | number>,
): Uint8Array {
  const { layout, recipe } = order;
  const { initial, used } = arranged;
  const contextAt = aligned(BEGIN + 8 * names.length);
  const initialAt = aligned(contextAt + 24 * words);
  const dataAt = aligned(initialAt + 40 * initial.length);
  const file = new Uint8Array(dataAt + used.get(PLAN)!);
  head(file, about, kind, names.length);
  const view = new DataView(file.buffer);
  putContext(view, contextAt, words, about.database_segment, order, arranged, dataAt);
  recipe.parameters.forEach((one, i) => {
    const value = one.fixed === null ? order.values.get(one.name)! : read(one.fixed);
    view.setBigInt64(contextAt + 24 * (layout.parameters_at + i), coded(one, value), true);
    view.setBigInt64(contextAt + 24 * (layout.parameters_at + i) + 8, BigInt(NUMBER), true);
  });
  const { belief } = layout.peeks as Peeks;
  if (belief && order.sight !== null) {
    const { width, height } = order.size;
    view.setBigInt64(contextAt + 24 * belief.radius, BigInt(Math.min(order.sight, Math.max(width, height))), true);
  }
  initial.flat().forEach((number, i) => view.setBigInt64(initialAt + 8 * i, BigInt(number), true));
  let end = dataAt;
  for (const part of arranged.data) {
    file.set(part, end);
    end += part.length;
  }
  const numbers: Record<string, bigint | number> = {
    code: BigInt(layout.code),
    words,
    context: contextAt,
    mind_bytes: used.get(MIND)!,
    desk_bytes: used.get(DESK)!,
    initial: initialAt,
    initials: initial.length,
    data: dataAt,
    anchored: recipe.anchored,
    pursues: recipe.pursues,
    map: order.map.mark,
    databases: order.databases.length,
    ...Object.fromEntries(order.databases.map((one, i) => [`database_${i}`, one.checksum])),
    ...known,
  };
  putNumbers(file, names, numbers);
  view.setUint32(12, checksum(file), true);
  return file;
}

/** Write for each word of the context its value and its segment. */
function putContext(
  view: DataView,
  at: number,
  words: number,
  databases: number, // segment of the first one
  { layout, map, recipe }: Order,
  { numbers, places }: Arrangement,
  dataAt: number,
): void {
  layout.words.slice(0, words).forEach(([segment, which, symbol], i) => {
    const number = numbers[symbol]!;
    let [value, kind] = [number, segment];
    if (segment === PIECE) {
      kind = layout.pieces[Number(which)]![0];
      value = number + BigInt(places[Number(which)]! + (kind === PLAN ? dataAt : 0));
    } else if (segment === MAP) {
      value = number + BigInt(map.place(String(which)));
    } else if (segment === databases) {
      kind = databases + recipe.databases.indexOf(String(which));
    }
    view.setBigInt64(at + 24 * i, value, true);
    view.setBigInt64(at + 24 * i + 8, BigInt(kind), true);
  });
}

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let i = 0; i < 8; i++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  return value >>> 0;
});

/** Return the checksum of a file, in which the checksum itself counts as zero. */
export function checksum(file: Uint8Array): number {
  let sum = 0xffffffff;
  for (let i = 0; i < file.length; i++) {
    const byte = i >= 12 && i < 16 ? 0 : file[i]!;
    sum = CRC[(sum ^ byte) & 0xff]! ^ (sum >>> 8);
  }
  return (sum ^ 0xffffffff) >>> 0;
}
