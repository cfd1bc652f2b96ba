/** An engine that is too simple to be wrong, for tests of the page: LRTA* with one move of lookahead, in plain maps. */

import type { Card, Cell, Crowd, Engine, Ground, Saved, Status, Step, WalkingAgent, World } from "../src/engine/types";
import { EngineError, EXPANDED, LEARNED, OUTCOMES, UNREACHABLE } from "../src/engine/types";
import { straight } from "../src/walker";

const CARD: Card = {
  name: "lrta",
  title: "LRTA*",
  summary: "Looks one move ahead.",
  paper: "Korf 1990",
  link: "",
  claims: ["real-time", "complete"],
  living: true,
  pursues: false,
  crowd: true,
  needs: [],
  anywhere: true,
  parameters: [
    { name: "depth", about: "moves to look ahead", allowed: "an integer from 1 to 100", kind: "int", optional: false, default: 1, least: 1, most: 100, values: null },
    { name: "quota", about: "most to learn", allowed: "a number, or none", kind: "float", optional: true, default: null, least: 0, most: null, values: null },
    { name: "ties", about: "which of equals", allowed: "first or last", kind: "choice", optional: false, default: "first", least: null, most: null, values: ["first", "last"] },
    { name: "lazy", about: "think later", allowed: "true or false", kind: "bool", optional: false, default: false, least: null, most: null, values: null },
  ],
  examples: ["lrta(depth=3)"],
  shown: ["lrta"],
};
const NEEDY: Card = { ...CARD, name: "needy", title: "Needy", needs: ["pattern"], anywhere: false, parameters: [], examples: [], shown: [] };

class NaiveWorld implements World {
  readonly width: number;
  readonly height: number;
  readonly passable: Uint8Array;
  version = 0;

  constructor(ground: Ground) {
    this.width = ground.width;
    this.height = ground.height;
    this.passable = ground.passable.slice();
  }

  edit(cells: ArrayLike<Cell>, open: boolean): number {
    let changed = 0;
    for (const cell of Array.from(cells)) {
      if (this.passable[cell] === (open ? 1 : 0)) continue;
      this.passable[cell] = open ? 1 : 0;
      changed++;
    }
    this.version += changed;
    return changed;
  }

  neighbours(cell: Cell): [Cell, number][] {
    const [x, y] = [cell % this.width, Math.floor(cell / this.width)];
    const free = (a: number, b: number): boolean => a >= 0 && b >= 0 && a < this.width && b < this.height && this.passable[b * this.width + a] === 1;
    const found: [Cell, number][] = [];
    for (const [dx, dy] of [[0, -1], [1, -1], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1]] as const) {
      if (free(x + dx, y + dy) && free(x + dx, y) && free(x, y + dy)) found.push([(y + dy) * this.width + x + dx, dx && dy ? Math.SQRT2 : 1]);
    }
    return found;
  }

  optimal(start: Cell, goal: Cell): { cost: number; path: Int32Array; expanded: number } | null {
    const cost = new Map([[start, 0]]);
    const parent = new Map<Cell, Cell>();
    const done = new Set<Cell>();
    for (;;) {
      let best = -1;
      for (const [cell, value] of cost) if (!done.has(cell) && (best < 0 || value < cost.get(best)!)) best = cell;
      if (best < 0) return null;
      if (best === goal) break;
      done.add(best);
      for (const [next, price] of this.neighbours(best)) {
        if (cost.get(best)! + price >= (cost.get(next) ?? Infinity)) continue;
        cost.set(next, cost.get(best)! + price);
        parent.set(next, best);
      }
    }
    const path = [goal];
    while (path[0] !== start) path.unshift(parent.get(path[0]!)!);
    return { cost: cost.get(goal)!, path: Int32Array.from(path), expanded: done.size };
  }

  dispose(): void {}
}

class NaiveAgent implements WalkingAgent {
  readonly card = CARD;
  readonly sight = null;
  readonly mindBytes = 100;
  readonly deskBytes = 100;
  readonly astray = false;
  status: Status = "walking";
  moves = 0;
  cost = 0;
  expanded = 0;
  lastExpanded = 0;
  worstExpanded = 0;
  stored = 0;
  private h = new Map<Cell, number>();

  constructor(
    readonly world: NaiveWorld,
    readonly notation: string,
    public start: Cell,
    public goal: Cell,
    public state = start,
  ) {}

  step(): Step {
    const value = (cell: Cell): number => this.h.get(cell) ?? straight(cell, this.goal, this.world.width);
    let best = -1;
    let [least, price] = [Infinity, 0];
    for (const [next, cost] of this.world.neighbours(this.state)) {
      if (cost + value(next) < least) [best, least, price] = [next, cost + value(next), cost];
    }
    const from = this.state;
    const nothing = { to: this.state, cost: 0, expanded: 0, touched: 0, learned: 0, stored: 0, thoughts: null, found: new Int32Array(0) };
    if (this.state === this.goal) return nothing;
    if (best < 0) return { ...nothing, to: UNREACHABLE };
    const learned = Math.max(0, least - value(from));
    if (learned > 0) this.h.set(from, least);
    const kind = learned > 0 ? [EXPANDED, LEARNED] : [EXPANDED];
    this.state = best;
    this.moves++;
    this.cost += price;
    const thoughts = { kind: Uint8Array.from(kind), cell: Int32Array.from(kind, () => from), value: Float64Array.from(kind, (one) => (one === LEARNED ? least : 0)), lost: 0 };
    return { to: best, cost: price, expanded: 1, touched: 8, learned, stored: 0, thoughts, found: new Int32Array(0) };
  }

  run(): Int32Array {
    throw new Error("not used");
  }
  retarget(goal: Cell): boolean {
    this.goal = goal;
    this.h = new Map();
    return false;
  }
  push(state: Cell): void {
    this.state = state;
  }
  reset(start: Cell, goal: Cell): void {
    Object.assign(this, { start, state: start, goal, moves: 0, h: new Map() });
  }
  values(): null {
    return null;
  }
  stale(): null {
    return null;
  }
  plan(): Int32Array {
    return Int32Array.of(this.state);
  }
  save(): Saved {
    return { bytes: 0 };
  }
  restore(): void {}
  dispose(): void {}
}

class NaiveCrowd implements Crowd {
  readonly card = CARD;
  readonly bytes = 1000;
  private readonly agents: NaiveAgent[] = [];
  private number = 0;

  constructor(
    readonly world: NaiveWorld,
    readonly notation: string,
    readonly mostUnits: number,
  ) {}

  get count(): number {
    return this.agents.length;
  }
  add(start: Cell, goal: Cell): number {
    return this.agents.push(new NaiveAgent(this.world, this.notation, start, goal)) - 1;
  }
  send(unit: number, goal: Cell): void {
    this.agents[unit]!.retarget(goal);
  }
  remove(): void {}
  tick(): ReturnType<Crowd["tick"]> {
    for (const agent of this.agents) agent.step();
    const arrived = this.agents.filter((agent) => agent.state === agent.goal).length;
    return { number: ++this.number, moved: this.agents.length - arrived, waiting: 0, arrived, unreachable: 0, stuck: 0, restarted: 0, expansions: this.agents.length, milliseconds: 1 };
  }
  states(): Int32Array {
    return Int32Array.from(this.agents, (agent) => agent.state);
  }
  goals(): Int32Array {
    return Int32Array.from(this.agents, (agent) => agent.goal);
  }
  outcomes(): Uint8Array {
    return Uint8Array.from(this.agents, (agent) => OUTCOMES.indexOf(agent.state === agent.goal ? "arrived" : "walking"));
  }
  dispose(): void {}
}

export const naiveEngine: Engine = {
  version: "naive",
  cards: [CARD, NEEDY],
  given: null,
  world: (ground) => new NaiveWorld(ground),
  normal(notation) {
    const name = /^[\w-]+/.exec(notation)?.[0];
    if (name !== "lrta" && name !== "needy") throw new EngineError(`there is no algorithm '${name}'`);
    if (/depth=(?!\d+\b)/.test(notation)) throw new EngineError("depth must be an integer from 1 to 100");
    return notation;
  },
  obstacle: (_, notation) => (notation.startsWith("needy") ? "needy needs a database of the kind 'pattern'" : null),
  agent: (world, notation, start, goal) => new NaiveAgent(world as NaiveWorld, notation, start, goal),
  crowd: (world, notation, options) => new NaiveCrowd(world as NaiveWorld, notation, options?.units ?? 2000),
  memory: () => ({ used: 0, total: 0 }),
};
