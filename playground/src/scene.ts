/**
 * A scene: everything that the page shows, as data. It is kept in the link's fragment: JSON, deflated, in base64url.
 *
 * A link may come from anywhere and is not trusted: a bad one is refused with a sentence, and nothing changes.
 */

import type { Errand } from "./march";
import type { Cell, Engine } from "./engine/types";
import type { Event } from "./walk";
import { MOST_AGENTS } from "./walk";
import type { Layout } from "./walksession";
import { generate, KINDS, LEAST_SIDE, MOST_SIDE, type Recipe } from "./world/generate";
import { type GridMap, mapText, parseMap, passable } from "./world/map";

export type Mode = "walk" | "race" | "crowd";

export interface Scene {
  mode: Mode;
  map: GridMap;
  /** How the map was generated, as long as it was not edited. */
  recipe: Recipe | null;
  start: Cell;
  goal: Cell;
  agents: string[];
  /** How far they see, in cells; null: they know the map. */
  sight: number | null;
  layout: Layout;
  /** Expansions in a beat of a race. */
  raceBudget: number;
  speed: number;
  events: readonly Event[];
  crowd: {
    notation: string;
    units: number;
    errand: Errand;
    endless: boolean;
    bodies: boolean;
    budget: number | null;
  };
}

export const MOST_UNITS = 2000;
export const MOST_SIGHT = 1024;
const VERSION = 1;
const MOST_LINK = 4_000_000; // characters
const MOST_JSON = 16_000_000; // bytes

export class SceneError extends Error {}

// --- writing ---

export async function toFragment(scene: Scene): Promise<string> {
  const { map, recipe, ...rest } = scene;
  const stored = recipe ? { recipe } : { name: map.name, text: mapText(map) };
  const json = new TextEncoder().encode(JSON.stringify({ version: VERSION, ...rest, map: stored }));
  return toBase64(await through(json, new CompressionStream("deflate-raw")));
}

async function through(bytes: Uint8Array, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const piped = new Blob([bytes as BlobPart]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let k = 0; k < bytes.length; k += 0x8000) text += String.fromCharCode(...bytes.subarray(k, k + 0x8000));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// --- reading ---

/** Return the scene in a link's fragment. */
export async function fromFragment(fragment: string, engine: Engine): Promise<Scene> {
  if (fragment.length > MOST_LINK) throw new SceneError("the link is too long to contain a scene");
  let data: unknown;
  try {
    const packed = Uint8Array.from(atob(fragment.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    data = JSON.parse(new TextDecoder().decode(await inflated(packed)));
  } catch {
    throw new SceneError("the link does not contain a complete scene; ask for it again");
  }
  return checked(data, engine);
}

/** Inflate at most the size of the largest scene: a short link could otherwise fill the memory. */
async function inflated(packed: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([packed as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > MOST_JSON) throw new SceneError("too long");
    parts.push(value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

type Fields = Record<string, unknown>;

function checked(data: unknown, engine: Engine): Scene {
  const fields = object(data, "the scene");
  if (fields.version !== VERSION) throw new SceneError("the link was made by another version of the playground");
  const { map, recipe } = readMap(object(fields.map, "the map"));
  const cells = map.width * map.height;
  const cell = (value: unknown, what: string): Cell => whole(value, what, 0, cells - 1);
  const free = (value: unknown, what: string): Cell => {
    const found = cell(value, what);
    if (!passable(map.terrain[found]!)) throw new SceneError(`the link puts ${what} on a blocked cell`);
    return found;
  };
  const crowd = object(fields.crowd, "the crowd");
  return {
    mode: oneOf(fields.mode, ["walk", "race", "crowd"], "mode"),
    map,
    recipe,
    start: free(fields.start, "the start"),
    goal: free(fields.goal, "the goal"),
    agents: list(fields.agents, "agents", MOST_AGENTS).map((name) => notation(name, engine)),
    sight: fields.sight == null ? null : whole(fields.sight, "the sight", 1, MOST_SIGHT),
    layout: oneOf(fields.layout, ["tiles", "one"], "layout"),
    raceBudget: whole(fields.raceBudget, "the budget", 1, 1e6),
    speed: number(fields.speed, "the speed", 0.5, 1e5),
    events: list(fields.events, "events", 100_000).map((event) => readEvent(object(event, "an event"), cell)),
    crowd: {
      notation: notation(crowd.notation, engine),
      units: whole(crowd.units, "the number of units", 1, MOST_UNITS),
      errand: oneOf(crowd.errand, ["goal", "streams", "anywhere"], "errand"),
      endless: crowd.endless === true,
      bodies: crowd.bodies === true,
      budget: crowd.budget === null ? null : whole(crowd.budget, "the budget", 1, 1e9),
    },
  };
}

function readMap(fields: Fields): { map: GridMap; recipe: Recipe | null } {
  if (fields.recipe !== undefined) {
    const recipe = readRecipe(object(fields.recipe, "the map"));
    return { map: generate(recipe), recipe };
  }
  const name = text(fields.name, "the map's name", 200);
  return { map: parseMap(new TextEncoder().encode(text(fields.text, "the map", MOST_JSON)), "the link's map", name), recipe: null };
}

function readRecipe(fields: Fields): Recipe {
  const kind = oneOf(fields.kind, KINDS.map((one) => one.name), "kind of map");
  const given = object(fields.options, "the map's options");
  const options: Record<string, number> = {};
  for (const { name, low, high } of KINDS.find((one) => one.name === kind)!.options) {
    if (name in given) options[name] = number(given[name], name, low, high);
  }
  return {
    kind,
    width: whole(fields.width, "the width", LEAST_SIDE, MOST_SIDE),
    height: whole(fields.height, "the height", LEAST_SIDE, MOST_SIDE),
    seed: whole(fields.seed, "the seed", 0, 2 ** 32 - 1),
    options,
  };
}

function readEvent(fields: Fields, cell: (value: unknown, what: string) => Cell): Event {
  const beat = whole(fields.beat, "a beat", 1, 1e7);
  if ("goal" in fields) return { beat, goal: cell(fields.goal, "a goal") };
  return { beat, cells: list(fields.cells, "cells", 2 ** 21).map((one) => cell(one, "a cell")), open: fields.open === true };
}

// --- checks ---

function wrong(what: string): never {
  throw new SceneError(`the link's scene cannot be shown: ${what} is not valid`);
}

function object(value: unknown, what: string): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : wrong(what);
}

function list(value: unknown, what: string, most: number): unknown[] {
  return Array.isArray(value) && value.length <= most ? value : wrong(what);
}

function text(value: unknown, what: string, most: number): string {
  return typeof value === "string" && value.length <= most ? value : wrong(what);
}

function number(value: unknown, what: string, least: number, most: number): number {
  return typeof value === "number" && value >= least && value <= most ? value : wrong(what);
}

function whole(value: unknown, what: string, least: number, most: number): number {
  return Number.isInteger(value) ? number(value, what, least, most) : wrong(what);
}

function oneOf<T extends string>(value: unknown, allowed: readonly T[], what: string): T {
  return allowed.find((one) => one === value) ?? wrong(`its ${what}`);
}

function notation(value: unknown, engine: Engine): string {
  return engine.normal(text(value, "an agent's name", 500));
}
