/**
 * Traces in the two formats that Python writes: Andante's own (src/andante/episode/tracefile.py), which `Trace.load` and
 * reports read, and that of the visualiser Posthoc (src/andante/episode/posthoc.py).
 */

import type { Cell } from "../engine/types";
import { EXPANDED } from "../engine/types";
import type { Walk } from "../walk";
import type { Ending, Walker } from "../walker";
import { type GridMap, GROUND, passable, WALL } from "../world/map";

export const FORMAT = "andante-trace";
export const VERSION = 2;

const OUTCOMES: Record<Ending, string> = {
  walking: "MOVE_CAP", // the trace ends here, the walk does not
  arrived: "GOAL",
  stuck: "STUCK",
  unreachable: "UNREACHABLE",
  limit: "MOVE_CAP",
  refused: "STUCK",
};
const DELTA = new Set(["state", "tick"]);
const POSTHOC_VERSION = "1.4.0";
const DIGITS = 6;

type Numbers = Uint8Array | Int32Array | Float64Array;

/** A cell that closed or opened, or the goal that moved, before a beat. */
interface Change {
  readonly tick: number;
  readonly state: Cell;
  readonly look: number; // the map character from then on; of the goal 0
}

/** Return the changes in a walk so far that had an effect. */
export function changesOf({ plan, events, beat }: Walk): { cells: Change[]; goals: Change[] } {
  const terrain = plan.map.terrain.slice();
  const [cells, goals]: [Change[], Change[]] = [[], []];
  let goal = plan.goal;
  for (const event of events) {
    if (event.beat > beat + 1) continue; // it has not happened yet
    if ("goal" in event) {
      if (event.goal !== goal) goals.push({ tick: event.beat, state: event.goal, look: 0 });
      goal = event.goal;
      continue;
    }
    const look = event.open ? GROUND : WALL;
    for (const state of event.cells) {
      if (passable(terrain[state]!) === event.open) continue;
      terrain[state] = look;
      cells.push({ tick: event.beat, state, look });
    }
  }
  return { cells, goals };
}

// --- Andante's format ---

export async function traceJson(walk: Walk, walker: Walker): Promise<string> {
  const { plan } = walk;
  const { map, start, goal } = plan;
  const { history } = walker;
  const moves = history.moves;
  const { cells, goals } = changesOf(walk);
  const still = cells.length + goals.length === 0;
  const column = (rows: readonly Change[], name: "tick" | "state"): Int32Array => Int32Array.from(rows, (row) => row[name]);
  const thoughts = Int32Array.from({ length: moves }, (_, k) => history.thoughtsAt(k + 1) - history.thoughtsAt(k));
  const document = {
    format: FORMAT,
    version: VERSION,
    algorithm: walker.notation,
    title: walker.agent?.card.title ?? walker.notation,
    map: map.name,
    width: map.width,
    height: map.height,
    diagonal: Math.SQRT2,
    start,
    goal,
    outcome: OUTCOMES[walker.ending],
    optimal_cost: still ? (walk.optimal?.cost ?? null) : null, // if anything changed, no cost is optimal
    thoughts_cut: history.cut,
    sight: plan.sight,
    discovered: await pack(history.foundCell.view().slice(0, history.foundAt(moves))),
    terrain: await pack(map.terrain),
    moves: await packTable({
      state: history.state.view(),
      cost: history.cost.view(),
      expanded: history.expanded.view(),
      learned: history.learned.view(),
      thoughts,
      discovered: Int32Array.from({ length: moves }, (_, k) => history.foundAt(k + 1) - history.foundAt(k)),
      tick: history.beat.view(),
    }),
    thoughts: await packTable({ kind: history.kind.view(), state: history.cell.view(), value: history.value.view() }),
    changes: await packTable({ tick: column(cells, "tick"), state: column(cells, "state"), look: Uint8Array.from(cells, ({ look }) => look) }),
    goals: await packTable({ tick: column(goals, "tick"), state: column(goals, "state") }),
  };
  return JSON.stringify({ ...document, checksum: await checksum(document) });
}

async function packTable(table: Record<string, Numbers>): Promise<Record<string, unknown>> {
  const packed: Record<string, unknown> = {};
  for (const [name, numbers] of Object.entries(table)) packed[name] = await pack(numbers, DELTA.has(name));
  return packed;
}

/** Return a column with its bytes in planes, the lowest bytes first, compressed. */
export async function pack(numbers: Numbers, delta = false): Promise<Record<string, unknown>> {
  const type = numbers instanceof Uint8Array ? "uint8" : numbers instanceof Int32Array ? "int32" : "float64";
  const size = numbers.BYTES_PER_ELEMENT;
  const changes = delta ? numbers.map((value: number, k: number) => value - (k > 0 ? numbers[k - 1]! : 0)) : numbers.slice();
  const bytes = new Uint8Array(changes.buffer, 0, numbers.length * size);
  const planes = new Uint8Array(bytes.length);
  for (let k = 0; k < numbers.length; k++) {
    for (let plane = 0; plane < size; plane++) planes[plane * numbers.length + k] = bytes[k * size + plane]!;
  }
  const stream = new Blob([planes]).stream().pipeThrough(new CompressionStream("deflate"));
  const data = base64(new Uint8Array(await new Response(stream).arrayBuffer()));
  return { type, length: numbers.length, delta, data };
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let k = 0; k < bytes.length; k += 0x8000) text += String.fromCharCode(...bytes.subarray(k, k + 0x8000));
  return btoa(text);
}

/** Return the SHA-256 of the document as Python writes it: names sorted, no spaces, only ASCII. */
export async function checksum(document: unknown): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonical(document)));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function canonical(data: unknown): string {
  if (Array.isArray(data)) return `[${data.map(canonical).join(",")}]`;
  if (typeof data === "object" && data !== null) {
    const entries = Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([name, value]) => `${canonical(name)}:${canonical(value)}`).join(",")}}`;
  }
  return JSON.stringify(data).replace(/[\u007f-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// --- Posthoc ---

type Entry = Record<string, unknown>;

export function posthocJson(walk: Walk, walker: Walker): string {
  return JSON.stringify({ version: POSTHOC_VERSION, views: views(), pivot: pivot(), events: [...entries(walk, walker)] });
}

function* entries(walk: Walk, walker: Walker): Generator<Entry> {
  const { map, start, goal } = walk.plan;
  const { history } = walker;
  const { cells, goals } = changesOf(walk);
  const changes = [...cells, ...goals].sort((a, b) => a.tick - b.tick);
  const place = (cell: Cell): Entry => ({ x: cell % map.width, y: Math.floor(cell / map.width) });
  const move = (number: number): string => `move ${number}`;
  const title = `${walker.agent?.card.title ?? walker.notation} on ${map.name}`;
  yield { type: "map", id: "map", x: 0, y: 0, title, walls: walls(map) };
  yield { type: "source", id: move(0), ...place(start) };
  yield { type: "destination", id: goal, ...place(goal) };
  const thought = (k: number, parent: string): Entry => {
    const cell = history.cell.at(k);
    const value = rounded(history.value.at(k));
    const what = history.kind.at(k) === EXPANDED ? { type: "expanding", id: cell, g: value } : { type: "updating", id: cell, h: value };
    return { ...what, pId: parent, ...place(cell) };
  };
  const change = ({ state, look }: Change, parent: string): Entry => {
    const type = look === 0 ? "destination" : passable(look) ? "opening" : "blocking";
    return { type, id: state, pId: parent, ...place(state) };
  };
  let changed = 0;
  for (let number = 1; number <= history.moves; number++) {
    const parent = move(number - 1);
    const tick = history.beat.at(number - 1);
    for (; changed < changes.length && changes[changed]!.tick <= tick; changed++) yield change(changes[changed]!, parent);
    for (let k = history.foundAt(number - 1); k < history.foundAt(number); k++) {
      const wall = history.foundCell.at(k);
      yield { type: "discovering", id: wall, pId: parent, ...place(wall) };
    }
    for (let k = history.thoughtsAt(number - 1); k < history.thoughtsAt(number); k++) yield thought(k, parent);
    const state = history.state.at(number - 1);
    yield {
      type: "moving",
      id: move(number),
      pId: parent,
      ...place(state),
      state,
      g: rounded(history.walked.at(number - 1)),
      expanded: history.expanded.at(number - 1),
      learned: rounded(history.learned.at(number - 1)),
    };
  }
  const last = move(history.moves);
  for (; changed < changes.length; changed++) yield change(changes[changed]!, last);
  for (let k = history.thoughtsAt(history.moves); k < history.kind.length; k++) yield thought(k, last);
  const end = history.moves > 0 ? history.state.at(history.moves - 1) : start;
  yield { type: "end", id: "end", pId: last, ...place(end), outcome: OUTCOMES[walker.ending].toLowerCase() };
}

function rounded(value: number): number | string {
  return Number.isFinite(value) ? Number(value.toFixed(DIGITS)) : "inf";
}

/** Return rectangles [x, y, width, height] over the blocked cells: runs of a row, merged with equal runs below. */
export function walls({ terrain, width, height }: GridMap): number[][] {
  const done: number[][] = [];
  let growing = new Map<string, number[]>();
  for (let y = 0; y < height; y++) {
    const next = new Map<string, number[]>();
    for (let x = 0; x < width; x++) {
      if (passable(terrain[y * width + x]!)) continue;
      const left = x;
      while (x < width && !passable(terrain[y * width + x]!)) x++;
      const key = `${left} ${x}`;
      const wall = growing.get(key) ?? [left, y, x - left, 0];
      wall[3]!++;
      next.set(key, wall);
    }
    for (const [key, wall] of growing) if (!next.has(key)) done.push(wall);
    growing = next;
  }
  return [...done, ...growing.values()];
}

function views(): Entry {
  const blocked = {
    $: "rect",
    $if: "${{ $.type == 'map' }}",
    $for: { $let: "i", $to: "${{ $.walls.length }}" },
    ...Object.fromEntries(["x", "y", "width", "height"].map((name, k) => [name, `\${{ $.walls[$.i][${k}] }}`])),
    fill: "${{ theme.foreground }}",
    alpha: 0.8,
    clear: false,
  };
  const cell = (event: string, colour: string, opacity: number): Entry => {
    return { $: "cell", $if: `\${{ $.type == '${event}' }}`, paint: `\${{ ${colour} }}`, opacity };
  };
  const square = { $: "rect", x: "${{ $.x }}", y: "${{ $.y }}", width: 1, height: 1, fill: "${{ $.paint }}", alpha: "${{ $.opacity }}", clear: false };
  const leg = {
    $: "path",
    $if: "${{ $.type == 'moving' && !!parent }}",
    points: [
      { x: "${{ parent.x + 0.5 }}", y: "${{ parent.y + 0.5 }}" },
      { x: "${{ $.x + 0.5 }}", y: "${{ $.y + 0.5 }}" },
    ],
    fill: "${{ color.red }}",
    alpha: 1,
    "line-width": 0.4,
    lineWidth: 0.4, // releases of the renderer spell it differently
    clear: false,
  };
  const agent = {
    $: "circle",
    $if: "${{ $.type == 'moving' || $.type == 'end' }}",
    x: "${{ $.x + 0.5 }}",
    y: "${{ $.y + 0.5 }}",
    radius: 0.6,
    fill: "${{ color.red }}",
    alpha: 1,
    clear: true,
  };
  return {
    cell: [square],
    main: [
      blocked,
      cell("source", "color.source", 1),
      cell("destination", "color.destination", 1),
      cell("expanding", "color.blue", 0.12),
      cell("updating", "color.amber", 0.5),
      cell("discovering", "color.green", 0.8),
      cell("blocking", "theme.foreground", 0.8),
      cell("opening", "theme.background", 1),
      leg,
      agent,
    ],
  };
}

function pivot(): Entry {
  return { x: "${{ $.x + 0.5 }}", y: "${{ $.y + 0.5 }}", scale: 1 };
}
