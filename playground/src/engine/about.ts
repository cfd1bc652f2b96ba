// The JSON at the head of engine.bin and of a scene, as andante.play.engine writes it.

import type { Records } from "./record";
import type { Card, Parameter, Value } from "./types";

/** A number that follows from the size of the map: itself, or min(a * f + b, c) as [a, b], or [a, b, c]. */
export type Formula = number | string | Feature[];

/** f is the number of cells, unless another feature is named first: ["tiles", a, b]; "lined": in whole cache lines. */
type Feature = number | string;

/** One value for all columns of a layout, or one for each. */
export type By<T> = T | { by: T[] };

export const [NUMBER, PLAN, MAP, MIND, DESK] = [0, 1, 2, 3, 4] as const;
export const PIECE = -1;

/** Segment; which piece, or which array of the map; symbol of its value or offset. */
export type Word = [number, number | string, number];

export interface Layout {
  agent: string; // its name in the module
  code: string; // of its machine code
  symbols: By<Formula>[];
  words: Word[];
  /** Segment, symbol of its bytes, its initial contents, and 1 if they are not repeated. */
  pieces: [number, number, Content, 1?][];
  parameters_at: number; // the word of the first parameter
  peeks: Peeks | CrowdPeeks;
}

/** Symbols of words, bytes as hex, where bytes are behind the JSON of a scene, or "open": the moves without walls. */
export type Content = number[] | string | Held;

export interface Held {
  at: number;
  bytes: number;
}

/** Words of the context that point to what a page shows. */
export interface Peeks {
  clock: number;
  log: { kind: number; state: number; value: number; scalars: number };
  logged: number[]; // words that point to kinds of thoughts; the number after each is the room for them
  values?: { value: number; stamp: number; clock: number };
  plan?: PlanPeeks;
  /** For an agent that discovers its map: its sight, and the log of cells that it has found, which begins with their number. */
  belief?: { radius: number; log: number; scalars: number };
  /** For an agent that searches where the map has changed: the word that shows that it does, and its plan then. */
  detour?: { astray: number; plan?: PlanPeeks };
}

export type PlanPeeks =
  | { kind: "plan"; state: number; scalars: number; clock: number }
  | { kind: "path"; next: number; scalars: number; clock: number }
  | { kind: "traced"; first: number; second: number; ends: number; scalars: number; clock: number };

/** What the module needs to know about a crowd. */
export interface CrowdPeeks {
  begins: Record<string, number>; // by kernel, where its context begins
  words: number; // of all contexts
  tables: Record<string, number>; // words after these contexts, which contain the places of tables
  numbers: Record<"unit_bytes" | "memory" | "most_units", number>; // words that are not addresses
  bodies: number;
}

export interface CodedParameter {
  name: string;
  kind: Parameter["kind"];
  words: Record<string, number>; // of a choice
  fixed: string | null;
}

export interface Recipe {
  anchored: number;
  pursues: number;
  databases: string[]; // kinds, in the order in which they are passed to the module
  files?: number[]; // for a recipe of a scene: which of its databases these are
  parameters: CodedParameter[];
  shaping: { name: string; values: string[]; classes: number[] }[];
  variants: Record<string, [number, number]>; // by classes: layout and column
  layouts: Layout[];
}

export interface AboutMap {
  code: string;
  arrays: [string, Formula, string | { steps: [number, number][] }][];
  contexts: Record<string, [number, number | string, Formula][]>;
  sweeps: number;
  levels_code: string; // of the kernel that repairs levels
}

/** Levels of abstraction above the map of a scene: their initial contents, and the context of the repair kernel. */
export interface AboutLevels {
  bytes: number;
  initial: [number, number, string | Held][]; // the place, the number of bytes, and the contents that are repeated there
  version: number; // where the version of the map is that they are the levels of
  words: Word[]; // values, or offsets in the map's arrays or in these levels
}

export interface AboutEngine {
  version: string;
  file_version: number;
  map_numbers: string[];
  plan_numbers: string[];
  databases: number; // that can be passed to the module
  database_segment: number; // of the first one
  words: number; // of the longest context
  mind_begins: number; // bytes that every mind begins with
  crowd_numbers: string[];
  crowd_cells: number; // of the smallest map for a crowd
  crowd_begins: number; // bytes that the memory of every crowd begins with
  outcomes: string[];
  records: Records;
  map: AboutMap;
  recipes: Record<string, Recipe>;
  sighted: Record<string, Recipe>; // of agents that discover their map
  crowds: Record<string, { plain: Recipe; bodies: Recipe }>;
  cards: (Omit<Card, "parameters"> & { parameters: (Omit<Parameter, "default" | "values"> & Written)[] })[];
}

/** What `andante play MAP` adds. */
export interface AboutScene {
  map: { name: string; width: number; height: number; rows: string[] };
  databases: { kind: string; about: string; file: string | Held }[];
  levels: Record<string, AboutLevels>;
  recipes: Record<string, Recipe>;
  crowds: Record<string, { plain: Recipe; bodies: Recipe }>;
}

interface Written {
  default: string;
  values: string[] | null;
}

/** Read a value that JSON has as text, in the notation. */
export function read(text: string): Value {
  if (text === "none") return null;
  if (text === "true" || text === "false") return text === "true";
  if (text === "inf") return Infinity;
  return /^[-+.\d]/.test(text) ? Number(text) : text;
}

export function cardsOf(about: AboutEngine): Card[] {
  return about.cards.map((card) => ({
    ...card,
    parameters: card.parameters.map((one) => ({
      ...one,
      default: read(one.default),
      values: one.values?.map(read) ?? null,
    })),
  }));
}

/** Split a file of JSON and bytes: a line with the length of the JSON, the JSON, the bytes. */
export function unpacked<T>(file: Uint8Array): [T, Uint8Array] {
  const line = file.indexOf(10);
  const text = new TextDecoder();
  const length = line < 0 || line > 20 ? NaN : Number(text.decode(file.subarray(0, line)));
  if (!(line + 1 + length <= file.length)) throw new Error("this is not a file of the playground");
  return [JSON.parse(text.decode(file.subarray(line + 1, line + 1 + length))) as T, file.subarray(line + 1 + length)];
}
