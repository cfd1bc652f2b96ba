// The memory of one agent in the module, and the parts of it that the page shows.

import type { AboutEngine, Layout, Peeks, Recipe } from "./about";
import { agentPlan, type Database, type Known, variant } from "./files";
import type { Module } from "./module";
import { normal, type Setting, written } from "./notation";
import { field, offsetOf } from "./record";
import { type Card, type Cell, EngineError, type Thoughts, type Value } from "./types";
import type { LivingWorld } from "./world";

const ROOM = 4096; // steps of a run that are fetched at once
const MORE = 1; // what `run` returns if there are more

/** What agents need of an engine. */
export interface Home {
  readonly module: Module;
  readonly about: AboutEngine;
}

/** The memory of an agent in the module, and its functions. */
export class Mind {
  private readonly layout: Layout;
  private readonly peeks: Peeks;
  readonly mindBytes: number;
  readonly deskBytes: number;
  private readonly at: number; // of the agent: eight addresses, then its context
  private readonly files: number;
  private readonly plan: number;
  private readonly mind: number;
  private readonly desk: number;
  readonly result: number;

  constructor(
    private readonly home: Home,
    readonly world: LivingWorld,
    known: Known,
    setting: Setting,
    sight: number | null = null,
  ) {
    const { module, about } = home;
    const chosen = variantOf(known.recipe, setting);
    const made = agentPlan(about, {
      ...known,
      ...chosen,
      values: setting.values,
      size: world,
      map: world.places,
      sight,
    });
    this.layout = chosen.layout;
    this.peeks = chosen.layout.peeks as Peeks;
    const { memory } = module;
    this.plan = memory.take(made.length);
    memory.bytes().set(made, this.plan);
    this.files = memory.take(4 * (4 + 2 * about.databases));
    this.at = memory.take(4 * (4 + about.databases) + 8 * about.words);
    this.result = memory.take(Math.max(about.records.MOVE.bytes, about.records.TRIAL.bytes));
    putFiles(memory.view(), this.files, about.databases, this.plan, made.length, world, known.databases);
    this.call("bytes", this.files, this.result, this.result + 4);
    this.mindBytes = memory.view().getUint32(this.result, true);
    this.deskBytes = memory.view().getUint32(this.result + 4, true);
    this.mind = memory.take(this.mindBytes);
    this.desk = memory.take(this.deskBytes);
    this.begin();
  }

  call(what: string, ...numbers: number[]): number {
    return this.home.module.call(`andante_${this.layout.agent}_${what}`, ...numbers);
  }

  /** Begin with nothing learned. */
  begin(): void {
    this.call("init", this.at, this.files, this.mind, this.mindBytes, this.desk, this.deskBytes);
    this.log(false);
  }

  /** Make a move, and return a function that reads the fields of its result. */
  move(state: Cell, goal: Cell): (name: string) => number {
    const { module, about } = this.home;
    this.call("move", this.at, state, goal, this.result);
    const view = module.memory.view();
    return (name) => field(view, this.result, about.records.MOVE, name);
  }

  retarget(goal: Cell): boolean {
    this.call("retarget", this.at, goal, this.result);
    return this.home.module.memory.view().getInt32(this.result, true) !== 0;
  }

  /** Run from start to goal, and return the path; null if there is none. */
  run(start: Cell, goal: Cell): { cost: number; path: Int32Array; expanded: number } | null {
    const { memory } = this.home.module;
    const { outcomes, records } = this.home.about;
    const steps = memory.take(ROOM * records.STEP.bytes);
    try {
      const path = [start];
      let code = this.call("run", this.at, start, goal, 0, steps, ROOM, this.result);
      for (;;) {
        const view = memory.view();
        const count = field(view, this.result, records.TRIAL, "steps");
        for (let i = 0; i < count; i++) path.push(field(view, steps + i * records.STEP.bytes, records.STEP, "state"));
        if (code !== MORE) break;
        code = this.call("go_on", this.at, steps, ROOM, this.result);
      }
      const view = memory.view();
      const trial = (name: string): number => field(view, this.result, records.TRIAL, name);
      if (outcomes[trial("outcome")] !== "GOAL") return null;
      return { cost: trial("cost"), path: Int32Array.from(path), expanded: trial("expanded") };
    } finally {
      memory.give(steps);
    }
  }

  save(): Uint8Array {
    this.call("seal", this.at);
    return this.home.module.memory.bytes().slice(this.mind, this.mind + this.mindBytes);
  }

  restore(mind: Uint8Array): void {
    if (mind.length !== this.mindBytes) throw new EngineError("this is not a copy of such an agent");
    this.home.module.memory.bytes().set(mind, this.mind);
    this.call("attach", this.at, this.files, this.mind, this.mindBytes, this.desk, this.deskBytes);
    this.log(false);
  }

  dispose(): void {
    for (const at of [this.plan, this.files, this.at, this.result, this.mind, this.desk]) this.home.module.memory.give(at);
  }

  // --- what the context points to ---

  private wordAt(word: number): number {
    return this.at + 4 * (4 + this.home.about.databases) + 8 * word;
  }

  word(word: number): number {
    return Number(this.home.module.memory.view().getBigInt64(this.wordAt(word), true));
  }

  /** Switch the recording of thoughts on or off: without room for them a search takes less time. */
  log(on: boolean): void {
    const view = this.home.module.memory.view();
    const { log, logged } = this.peeks;
    const room = on ? BigInt(this.word(log.state + 1)) : 0n;
    for (const word of logged) view.setBigInt64(this.wordAt(word + 1), room, true);
    if (on) view.setBigInt64(this.word(log.scalars), 0n, true);
  }

  thoughts(): Thoughts {
    const { memory } = this.home.module;
    const { log } = this.peeks;
    const used = Number(memory.view().getBigInt64(this.word(log.scalars), true));
    const count = Math.min(used, this.word(log.state + 1));
    const { buffer } = memory.bytes();
    return {
      kind: new Uint8Array(buffer, this.word(log.kind), count).slice(),
      cell: new Int32Array(buffer, this.word(log.state), count).slice(),
      value: new Float64Array(buffer, this.word(log.value), count).slice(),
      lost: used - count,
    };
  }

  /** The number of cells that differed from what an agent that discovers its map had believed, in all its problems. */
  get foundSoFar(): number {
    const { belief } = this.peeks;
    return belief === undefined ? 0 : Number(this.home.module.memory.view().getBigInt64(this.word(belief.scalars), true));
  }

  /** Return the cells found since their number was `before`, in order. */
  foundSince(before: number): Int32Array {
    const { belief } = this.peeks;
    if (belief === undefined) return new Int32Array(0);
    const room = this.word(belief.log + 1);
    const log = new Int32Array(this.home.module.memory.bytes().buffer, this.word(belief.log), room);
    return Int32Array.from({ length: this.foundSoFar - before }, (_, i) => {
      const cell = log[(before + i) % room]!;
      return Math.max(cell, ~cell); // it is ~cell if it was found closed
    });
  }

  values(): { cell: Int32Array; value: Float64Array } | null {
    const peek = this.peeks.values;
    if (peek === undefined) return null;
    const { memory } = this.home.module;
    const { buffer } = memory.bytes();
    const view = memory.view();
    const clock = (name: string): number => field(view, this.word(peek.clock), this.home.about.records.CLOCK, name);
    const [first, era, drift] = [clock("first"), clock("era"), clock("drift")];
    const stamps = new Uint32Array(buffer, this.word(peek.stamp), this.world.cells);
    const stored = new Float64Array(buffer, this.word(peek.value), this.world.cells);
    let count = 0;
    for (let i = 0; i < stamps.length; i++) if (stamps[i]! >= first && stamps[i]! <= era) count++;
    const cell = new Int32Array(count);
    const value = new Float64Array(count);
    if (first === 0) return { cell: new Int32Array(0), value: new Float64Array(0) }; // no problem has begun
    for (let i = 0, k = 0; k < count; i++) {
      if (stamps[i]! < first || stamps[i]! > era) continue;
      cell[k] = i;
      value[k++] = stored[i]! - drift;
    }
    return { cell, value };
  }

  /** Whether the agent searches because the map has changed, as in `episode/detour.py` but without new editions. */
  get astray(): boolean {
    const { detour, clock } = this.peeks;
    if (detour === undefined) return false;
    const view = this.home.module.memory.view();
    const trial = view.getBigInt64(this.word(clock) + offsetOf(this.home.about.records.CLOCK, "trial"), true);
    return trial > 0n && view.getBigInt64(this.word(detour.astray), true) === trial;
  }

  /** Return the path that the agent plans to follow from a cell. */
  planFrom(state: Cell): Int32Array | null {
    const plan = this.astray ? this.peeks.detour?.plan : this.peeks.plan;
    if (plan === undefined) return null;
    const view = this.home.module.memory.view();
    const { records } = this.home.about;
    const scalars = this.word(plan.scalars);
    const trial = field(view, this.word(plan.clock), records.CLOCK, "trial");
    const path = [state];
    if (plan.kind === "plan") {
      if (field(view, scalars, records.PLAN, "trial") !== trial) return null;
      for (let left = field(view, scalars, records.PLAN, "left"); left > 0; left--) {
        path.push(view.getInt32(this.word(plan.state) + 4 * (left - 1), true));
      }
    } else if (plan.kind === "path") {
      if (field(view, scalars, records.PATH, "trial") !== trial) return null;
      const goal = field(view, scalars, records.PATH, "goal");
      const next = new Int32Array(view.buffer, this.word(plan.next), this.world.cells);
      for (let here = state; here !== goal && path.length <= this.world.cells; path.push(here)) here = next[here]!;
    } else {
      const followed = field(view, scalars, records.TRACING, "followed");
      const ends = this.word(plan.ends) + followed * records.ENDS.bytes;
      const [end, front] = [field(view, ends, records.ENDS, "end"), field(view, ends, records.ENDS, "front")];
      const numbers = new Int32Array(view.buffer, this.word(followed === 0 ? plan.first : plan.second), this.world.cells);
      this.trace(numbers, end, front, path);
    }
    return path.length > 1 ? Int32Array.from(path) : null;
  }

  /** Follow the numbers of a path, which fall by one with each move, from the agent's cell or from one beside it. */
  private trace(numbers: Int32Array, end: number, front: number, path: number[]): void {
    const { width, height } = this.world;
    for (let wanted = -1, here = path[0]!; ; ) {
      const own = numbers[here]!;
      if (wanted < 0) wanted = own > end && own <= front + 1 ? own - 1 : front;
      if (wanted < end) return;
      const [x, y] = [here % width, Math.floor(here / width)];
      let next = -1;
      for (let dy = -1; dy <= 1 && next < 0; dy++) {
        for (let dx = -1; dx <= 1 && next < 0; dx++) {
          if (x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height) continue;
          const near = here + dy * width + dx;
          if (near !== here && numbers[near] === wanted) next = near;
        }
      }
      if (next < 0) return;
      path.push(next);
      here = next;
      wanted -= 1;
    }
  }
}

/** Write the list of files for the module: a plan, a map and databases. */
export function putFiles(
  view: DataView,
  at: number,
  databases: number,
  plan: number,
  planBytes: number,
  world: LivingWorld,
  given: readonly Database[],
): void {
  const places = Array.from({ length: databases }, (_, i) => given[i]?.at ?? 0);
  const sizes = Array.from({ length: databases }, (_, i) => given[i]?.bytes ?? 0);
  const values = [plan, planBytes, world.at, world.bytes, ...places, ...sizes];
  values.forEach((value, i) => view.setUint32(at + 4 * i, value, true));
}

/** Choose the layout for a setting; refuse combinations of parameters that the page does not have. */
export function variantOf(recipe: Recipe, setting: Setting): { layout: Layout; column: number } {
  const kind = (name: string): { kind: Card["parameters"][number]["kind"] } =>
    setting.card.parameters.find((one) => one.name === name)!;
  const write = (name: string, value: Value): string => written(kind(name), value);
  const chosen = variant(recipe, setting.values, write);
  if (chosen === null) {
    throw new EngineError(`${normal(setting)} is not available on this page; choose other values of its parameters`);
  }
  return chosen;
}
