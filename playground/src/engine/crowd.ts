// Many units of one algorithm under one budget per tick.

import type { Layout } from "./about";
import { crowdPlan, type Known } from "./files";
import { type Home, putFiles, variantOf } from "./mind";
import { normal, type Setting } from "./notation";
import { field, offsetOf, write } from "./record";
import { type Budget, type Card, type Cell, type Crowd, EngineError, OUTCOMES, type Tick, type UnitOutcome } from "./types";
import type { LivingWorld } from "./world";

const NAMES: Record<string, UnitOutcome> = { GOAL: "arrived", STUCK: "stuck", UNREACHABLE: "unreachable" };

export class MarchingCrowd implements Crowd {
  readonly notation: string;
  readonly card: Card;
  readonly mostUnits: number;
  readonly bytes: number;
  private readonly layout: Layout;
  private readonly taken: number[] = [];
  private readonly at: number;
  private readonly memory: number;
  private readonly result: number;
  private readonly budget: number;
  private readonly units: number; // the offset of the table of units in the crowd's memory
  private readonly outcomeOf: Uint8Array; // from the module's outcomes to ours
  count = 0;

  constructor(
    private readonly home: Home,
    readonly world: LivingWorld,
    known: Known,
    setting: Setting,
    wanted: number,
  ) {
    const { module, about } = home;
    const chosen = variantOf(known.recipe, setting);
    this.layout = chosen.layout;
    this.notation = normal(setting);
    this.card = setting.card;
    const made = crowdPlan(about, {
      ...known,
      ...chosen,
      values: setting.values,
      size: world,
      map: world.places,
      sight: null,
    });
    this.mostUnits = made.mostUnits;
    this.units = made.units;
    if (wanted > this.mostUnits) {
      throw new EngineError(`a crowd has at most ${this.mostUnits} units here, not ${wanted}`);
    }
    const { memory } = module;
    const take = (bytes: number): number => {
      const at = memory.take(bytes);
      this.taken.push(at);
      return at;
    };
    try {
      const plan = take(made.data.length);
      memory.bytes().set(made.data, plan);
      const files = take(4 * (4 + 2 * about.databases));
      this.at = take(4 * (4 + about.databases) + 8 * about.words);
      this.result = take(Math.max(about.records.TICK.bytes, about.records.MOVE.bytes));
      this.budget = take(about.records.BUDGET.bytes);
      putFiles(memory.view(), files, about.databases, plan, made.data.length, world, known.databases);
      this.call("bytes", files, this.result);
      this.bytes = memory.view().getUint32(this.result, true);
      this.memory = take(this.bytes);
      this.call("init", this.at, files, this.memory, this.bytes);
    } catch (error) {
      this.dispose();
      throw error;
    }
    this.outcomeOf = Uint8Array.from(about.outcomes, (name) => OUTCOMES.indexOf(NAMES[name] ?? "walking"));
  }

  private call(what: string, ...numbers: number[]): number {
    return this.home.module.call(`andante_${this.layout.agent}_crowd_${what}`, ...numbers);
  }

  add(start: Cell, goal: Cell): number {
    this.call("add", this.at, start, goal, 1, this.result);
    const unit = this.home.module.memory.view().getInt32(this.result, true);
    this.count = Math.max(this.count, unit + 1);
    return unit;
  }

  send(unit: number, goal: Cell): void {
    this.call("send", this.at, unit, goal);
  }

  remove(unit: number): void {
    this.call("remove", this.at, unit);
  }

  tick({ expansions = 0, milliseconds = 0 }: Budget = {}): Tick {
    const { memory } = this.home.module;
    const { TICK, BUDGET } = this.home.about.records;
    // Any clock but none means the import env.now. Units whose memory is full start again.
    write(memory.view(), this.budget, BUDGET, { expansions, nanoseconds: milliseconds * 1e6, clock: 1 });
    const began = performance.now();
    this.call("tick", this.at, this.budget, this.result);
    const took = performance.now() - began;
    const after = memory.view();
    const said = Object.keys(TICK.fields).map((name) => [name, field(after, this.result, TICK, name)]);
    return { ...(Object.fromEntries(said) as Omit<Tick, "milliseconds">), milliseconds: took };
  }

  /** Read a field of all units. These are whole numbers of 64 bits, of which the lower half is enough. */
  private column<T extends Int32Array | Uint8Array>(name: string, into: T, read: (value: number) => number): T {
    const { UNIT } = this.home.about.records;
    const step = UNIT.bytes / 4;
    const at = offsetOf(UNIT, name);
    const table = new Int32Array(this.home.module.memory.bytes().buffer, this.memory + this.units + at);
    const here = offsetOf(UNIT, "state") - at;
    for (let unit = 0; unit < this.count; unit++) {
      const isThere = table[unit * step + here / 4]! >= 0;
      into[unit] = isThere ? read(table[unit * step]!) : read(NOBODY);
    }
    return into;
  }

  states(into: Int32Array = new Int32Array(this.count)): Int32Array {
    return this.column("state", into, (value) => (value === NOBODY ? -1 : value));
  }

  goals(into: Int32Array = new Int32Array(this.count)): Int32Array {
    return this.column("goal", into, (value) => (value === NOBODY ? -1 : value));
  }

  outcomes(into: Uint8Array = new Uint8Array(this.count)): Uint8Array {
    const none = OUTCOMES.indexOf("none");
    return this.column("outcome", into, (value) => (value === NOBODY ? none : this.outcomeOf[value]!));
  }

  dispose(): void {
    for (const at of this.taken.splice(0)) this.home.module.memory.give(at);
  }
}

const NOBODY = -(2 ** 31);
