/**
 * Traces that are dropped on the page, read as scenes with all changes that were made while the agent walked.
 *
 * The page runs the agent again, so it reads only the problem and the changes from the file. A file may come from
 * anywhere and is not trusted: a bad one is refused with a sentence, and nothing changes. (The checksum of the document
 * cannot be checked here, as JavaScript reads 7.0 as 7; each column has its own checksum, by zlib.)
 */

import { type Engine, EngineError } from "../engine/types";
import { MOST_SIGHT } from "../scene";
import type { Event } from "../walk";
import type { GridMap } from "../world/map";
import { isLegal, MapError, MOST_CELLS, passable } from "../world/map";
import { FORMAT, VERSION } from "./trace";

const MOST_EVENTS = 2 ** 21;
const ARRAYS = { uint8: Uint8Array, int32: Int32Array } as const;

type Fields = Record<string, unknown>;

/** The problem and the changes in a trace. */
export interface Recorded {
  readonly map: GridMap;
  readonly start: number;
  readonly goal: number;
  readonly agents: string[];
  readonly sight: number | null;
  readonly events: Event[];
}

/** Return whether a file begins as JSON does, so that it is not a map. */
export function isJson(data: Uint8Array): boolean {
  return data.find((byte) => byte > 32) === 0x7b;
}

export async function readTrace(data: Uint8Array, where: string, engine: Engine): Promise<Recorded> {
  const wrong = (what: string): MapError => new MapError(`${where} is not a whole trace: ${what}`);
  let document: Fields;
  try {
    document = JSON.parse(new TextDecoder().decode(data)) as Fields;
  } catch {
    throw new MapError(`${where} is not a trace: it is not JSON, or not all of it`);
  }
  const { format, version } = document;
  if (format !== FORMAT) throw new MapError(`${where} is neither a map nor a trace of Andante`);
  if (typeof version !== "number" || !(version >= 1)) throw wrong("it does not say its version");
  if (version > VERSION) {
    throw new MapError(`${where} is a trace of version ${version}, this page reads versions 1 to ${VERSION}; open it in a newer page`);
  }
  const number = (name: string, least: number, most: number): number => {
    const value = document[name];
    if (typeof value !== "number" || !Number.isInteger(value) || value < least || value > most) throw wrong(`its ${name} is not a whole number from ${least} to ${most}`);
    return value;
  };
  const [width, height] = [number("width", 1, MOST_CELLS), number("height", 1, MOST_CELLS)];
  const cells = width * height;
  if (cells > MOST_CELLS) throw new MapError(`${where} is of a map with ${cells} cells; the playground takes up to ${MOST_CELLS}`);
  if (Math.abs(Number(document["diagonal"]) - Math.SQRT2) > 1e-9 || (document["straight"] ?? 1) !== 1 || document["sixteen"] === true) {
    throw new MapError(`${where} is of a map whose moves have other costs than those of the playground`);
  }
  try {
    const terrain = (await column(document["terrain"], "uint8", cells)) as Uint8Array;
    if (!terrain.every(isLegal)) throw wrong("its map has characters that are not allowed");
    const map = { name: String(document["map"]).slice(0, 200), width, height, terrain };
    const [start, goal] = [number("start", 0, cells - 1), number("goal", 0, cells - 1)];
    if (!passable(terrain[start]!) || !passable(terrain[goal]!)) throw wrong("its start or goal is a blocked cell");
    const agents = [engine.normal(String(document["algorithm"]))];
    const sight = document["sight"] == null ? null : number("sight", 1, MOST_SIGHT);
    return { map, start, goal, agents, sight, events: version > 1 ? await eventsOf(document, cells) : [] };
  } catch (error) {
    if (error instanceof MapError || error instanceof EngineError) throw error;
    throw wrong((error as Error).message || "a column is damaged");
  }
}

/** Return the changes of map and goal, in the order of their beats; cells that change together are one event. */
async function eventsOf(document: Fields, cells: number): Promise<Event[]> {
  const changes = await table(document["changes"], { tick: "int32", state: "int32", look: "uint8" });
  const goals = await table(document["goals"], { tick: "int32", state: "int32" });
  for (const { tick, state } of [changes, goals]) {
    if (!tick!.every((value, k) => value >= 1 && value >= (tick![k - 1] ?? 1))) throw new Error("its changes are not in the order of their ticks");
    if (!state!.every((cell) => cell >= 0 && cell < cells)) throw new Error("it changes a cell that is not on its map");
  }
  if (!changes["look"]!.every((look) => isLegal(look))) throw new Error("its map has characters that are not allowed");
  const events: { beat: number; cells: number[]; open: boolean }[] = [];
  changes["tick"]!.forEach((beat, k) => {
    const open = passable(changes["look"]![k]!);
    const last = events[events.length - 1];
    if (last?.beat === beat && last.open === open) last.cells.push(changes["state"]![k]!);
    else events.push({ beat, cells: [changes["state"]![k]!], open });
  });
  const moves = Array.from(goals["tick"]!, (beat, k): Event => ({ beat, goal: goals["state"]![k]! }));
  return [...events, ...moves].sort((a, b) => a.beat - b.beat);
}

async function table(columns: unknown, types: Record<string, keyof typeof ARRAYS>): Promise<Record<string, number[]>> {
  if (typeof columns !== "object" || columns === null) throw new Error("it lacks its changes");
  const rows = Number(((columns as Fields)["tick"] as Fields | undefined)?.["length"]);
  if (!(rows >= 0 && rows <= MOST_EVENTS)) throw new Error("it has more changes than are read");
  const read = Object.entries(types).map(async ([name, type]) => [name, Array.from(await column((columns as Fields)[name], type, rows))]);
  return Object.fromEntries(await Promise.all(read)) as Record<string, number[]>;
}

/** Return the numbers of a column. Their bytes are in planes, the lowest bytes first, and may encode differences. */
async function column(given: unknown, wanted: keyof typeof ARRAYS, length: number): Promise<Uint8Array | Int32Array> {
  const { type, length: rows, delta, data } = (given ?? {}) as Fields;
  if (type !== wanted || rows !== length || typeof data !== "string") throw new Error(`it lacks a column of ${length} numbers`);
  const numbers = new ARRAYS[wanted](length);
  const size = numbers.BYTES_PER_ELEMENT;
  const planes = await inflated(Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)), length * size);
  const bytes = new Uint8Array(numbers.buffer);
  for (let plane = 0; plane < size; plane++) {
    for (let k = 0; k < length; k++) bytes[k * size + plane] = planes[plane * length + k]!;
  }
  if (delta === true) for (let k = 1; k < length; k++) numbers[k]! += numbers[k - 1]!;
  return numbers;
}

/** Inflate to exactly this many bytes: a short file could otherwise fill the memory. */
async function inflated(packed: Uint8Array, bytes: number): Promise<Uint8Array> {
  const whole = new Uint8Array(bytes);
  const reader = new Blob([packed as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
  let at = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (at + part.value.length > bytes) throw new Error("a column has more bytes than it announces");
    whole.set(part.value, at);
    at += part.value.length;
  }
  if (at !== bytes) throw new Error("a column has fewer bytes than it announces");
  return whole;
}

