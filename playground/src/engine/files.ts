// Files that the module checks before it uses them: plans of agents and images of maps, made from formulas.
// Their format: docs/explanation/database-files.md.

import {
  type AboutEngine,
  type By,
  DATABASE,
  DESK,
  type Formula,
  type Layout,
  MAP,
  MIND,
  NUMBER,
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
const BEGIN = aligned(HEAD + ENTRY); // of the numbers, which are the only array that files of the page name

export function evaluated(formula: Formula, cells: number): bigint {
  if (typeof formula === "number" || typeof formula === "string") return BigInt(formula);
  const [a, b, c] = formula;
  const value = a * cells + b;
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
  arrays: Map<string, { at: number; bytes: number; content: string | { steps: [number, number][] } }>;
  contexts: Map<string, number>;
}

/** Where everything lies in the image of a map with so many cells. */
export function mapLayout(about: AboutEngine, cells: number): MapLayout {
  let end = aligned(BEGIN + 8 * about.map_numbers.length);
  const put = (bytes: number): number => {
    const at = end;
    end = aligned(at + bytes);
    return at;
  };
  const arrays: MapLayout["arrays"] = new Map();
  for (const [name, formula, content] of about.map.arrays) {
    const bytes = Number(evaluated(formula, cells));
    arrays.set(name, { at: put(bytes), bytes, content });
  }
  const contexts = new Map(Object.entries(about.map.contexts).map(([name, words]) => [name, put(16 * words.length)]));
  return { bytes: end, arrays, contexts };
}

/** Write the image of a map in which all cells are closed, as a map that changes. */
export function writeMap(file: Uint8Array, about: AboutEngine, layout: MapLayout, width: number, height: number): void {
  const cells = width * height;
  file.fill(0);
  head(file, about, "world", about.map_numbers.length);
  const view = new DataView(file.buffer, file.byteOffset);
  view.setUint32(12, mapMark(width, height), true);
  const place = (name: string): number => layout.arrays.get(name)!.at;
  const known: Record<string, bigint | number> = {
    states: cells,
    width,
    height,
    living: 1,
    passable: place("passable"),
    changes: place("changes_scalars"),
    sweeps: place("parts_scalars") + about.map.sweeps,
    code: BigInt(about.map.code),
  };
  for (const [name, words] of Object.entries(about.map.contexts)) {
    const at = layout.contexts.get(name)!;
    known[name] = at;
    known[`${name}_words`] = words.length;
    words.forEach(([segment, which, formula], i) => {
      const inside = segment === MAP ? BigInt(place(String(which))) : 0n;
      view.setBigInt64(at + 16 * i, evaluated(formula, cells) + inside, true);
      view.setBigInt64(at + 16 * i + 8, BigInt(segment), true);
    });
  }
  putNumbers(file, about.map_numbers, known);
  for (const name of layout.arrays.keys()) writeMapArray(file, layout, name, width);
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
  const pattern = unhex(hex);
  for (let done = 0; done < memory.length; done += pattern.length) {
    memory.set(pattern.subarray(0, Math.min(pattern.length, memory.length - done)), done);
  }
}

function unhex(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) => parseInt(hex.slice(2 * i, 2 * i + 2), 16));
}

/** What tells maps of one size from those of others, in place of a checksum, which a map that changes does not have. */
export function mapMark(width: number, height: number): number {
  return (width * 65536 + height) >>> 0;
}

// --- plans -----------------------------------------------------------------------------------------------------------

export interface PlanFile {
  data: Uint8Array;
  layout: Layout;
  databases: number[]; // of the scene, in the order in which the module is given them
}

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

/** Write the plan of an agent's memory on a map. */
export function planFile(
  about: AboutEngine,
  recipe: Recipe,
  { layout, column }: { layout: Layout; column: number },
  values: ReadonlyMap<string, Value>,
  cells: number,
  map: MapPlaces,
  checksums: readonly number[],
): PlanFile {
  const numbers = layout.symbols.map((symbol) => evaluated(inColumn(symbol, column), cells));
  const used = new Map<number, number>([
    [MIND, about.mind_begins],
    [DESK, 0],
    [PLAN, 0],
  ]);
  const data: Uint8Array[] = [];
  const keep = (bytes: Uint8Array): number => {
    const at = used.get(PLAN)!;
    const padded = new Uint8Array(aligned(bytes.length));
    padded.set(bytes);
    data.push(padded);
    used.set(PLAN, at + padded.length);
    return at;
  };
  const initial: number[][] = [];
  const places = layout.pieces.map(([segment, symbol, content]) => {
    const bytes = Number(numbers[symbol]!);
    const pattern = unhex(inColumn(content, column));
    if (segment === PLAN) {
      const whole = new Uint8Array(bytes);
      if (pattern.length > 0) for (let i = 0; i < bytes; i += pattern.length) whole.set(pattern.subarray(0, bytes - i), i);
      return keep(whole);
    }
    const at = used.get(segment)!;
    used.set(segment, at + aligned(bytes));
    if (pattern.length > 0) initial.push([segment, at, bytes, keep(pattern), pattern.length]);
    return at;
  });
  /** Where what a word points to lies in its segment. */
  const placeOf = (word: number): number => {
    const [, which, symbol] = layout.words[word]!;
    return places[Number(which)]! + Number(numbers[symbol]!);
  };
  const words = layout.words.length;
  const contextAt = aligned(BEGIN + 8 * about.plan_numbers.length);
  const initialAt = aligned(contextAt + 24 * words);
  const dataAt = aligned(initialAt + 40 * initial.length);
  const file = new Uint8Array(dataAt + used.get(PLAN)!);
  head(file, about, "agent", about.plan_numbers.length);
  const view = new DataView(file.buffer);
  const databases: number[] = [];
  layout.words.forEach(([segment, which, symbol], i) => {
    const number = numbers[symbol]!;
    let [value, kind] = [number, segment];
    if (segment === PIECE) {
      kind = layout.pieces[Number(which)]![0];
      value = number + BigInt(places[Number(which)]! + (kind === PLAN ? dataAt : 0));
    } else if (segment === MAP) {
      value = number + BigInt(map.place(String(which)));
    } else if (segment >= DATABASE) {
      if (!databases.includes(segment - DATABASE)) databases.push(segment - DATABASE);
      kind = DATABASE + databases.indexOf(segment - DATABASE);
    }
    view.setBigInt64(contextAt + 24 * i, value, true);
    view.setBigInt64(contextAt + 24 * i + 8, BigInt(kind), true);
  });
  recipe.parameters.forEach((one, i) => {
    const value = one.fixed === null ? values.get(one.name)! : read(one.fixed);
    view.setBigInt64(contextAt + 24 * (layout.parameters_at + i), coded(one, value), true);
    view.setBigInt64(contextAt + 24 * (layout.parameters_at + i) + 8, BigInt(NUMBER), true);
  });
  initial.flat().forEach((number, i) => view.setBigInt64(initialAt + 8 * i, BigInt(number), true));
  let end = dataAt;
  for (const part of data) {
    file.set(part, end);
    end += part.length;
  }
  const known: Record<string, bigint | number> = {
    code: BigInt(layout.code),
    words,
    context: contextAt,
    mind_bytes: used.get(MIND)!,
    desk_bytes: used.get(DESK)!,
    initial: initialAt,
    initials: initial.length,
    data: dataAt,
    clock: placeOf(layout.peeks.clock),
    anchored: recipe.anchored,
    pursues: recipe.pursues,
    map: map.mark,
    databases: databases.length,
  };
  databases.forEach((one, i) => (known[`database_${i}`] = checksums[one]!));
  putNumbers(file, about.plan_numbers, known);
  view.setUint32(12, checksum(file), true);
  return { data: file, layout, databases };
}

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let i = 0; i < 8; i++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  return value >>> 0;
});

/** The checksum of a file, in which the checksum itself counts as zero. */
export function checksum(file: Uint8Array): number {
  let sum = 0xffffffff;
  for (let i = 0; i < file.length; i++) {
    const byte = i >= 12 && i < 16 ? 0 : file[i]!;
    sum = CRC[(sum ^ byte) & 0xff]! ^ (sum >>> 8);
  }
  return (sum ^ 0xffffffff) >>> 0;
}
