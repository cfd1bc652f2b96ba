// One agent that walks.

import type { Known } from "./files";
import { type Home, Mind } from "./mind";
import { normal, type Setting } from "./notation";
import { StaleEntries } from "./stale";
import { type Card, type Cell, EngineError, type Saved, type Status, type Step, STUCK, UNREACHABLE, type WalkingAgent } from "./types";
import type { LivingWorld } from "./world";

interface Counts {
  state: Cell;
  start: Cell;
  goal: Cell;
  status: Status;
  moves: number;
  cost: number;
  expanded: number;
  lastExpanded: number;
  worstExpanded: number;
  stored: number;
}

const NOTHING = new Int32Array(0);

class SavedAgent implements Saved {
  constructor(
    readonly mind: Uint8Array,
    readonly counts: Counts,
  ) {}

  get bytes(): number {
    return this.mind.length;
  }
}

export class Walker implements WalkingAgent {
  readonly notation: string;
  readonly card: Card;
  private readonly mind: Mind;
  private entries: StaleEntries | null = null; // read when they are first asked for
  private counts: Counts;

  constructor(
    private readonly home: Home,
    readonly world: LivingWorld,
    private readonly known: Known,
    setting: Setting,
    start: Cell,
    goal: Cell,
    readonly sight: number | null,
  ) {
    this.notation = normal(setting);
    this.card = setting.card;
    this.counts = this.fresh(start, goal);
    this.mind = new Mind(home, world, known, setting, sight);
  }

  private fresh(start: Cell, goal: Cell): Counts {
    this.check(start);
    this.check(goal);
    const status: Status = start === goal ? "arrived" : "walking";
    const none = { moves: 0, cost: 0, expanded: 0, lastExpanded: 0, worstExpanded: 0, stored: 0 };
    return { state: start, start, goal, status, ...none };
  }

  private check(cell: Cell): void {
    if (!(cell >= 0 && cell < this.world.cells)) throw new EngineError(`there is no cell ${cell} on the map`);
  }

  get state(): Cell {
    return this.counts.state;
  }
  get start(): Cell {
    return this.counts.start;
  }
  get goal(): Cell {
    return this.counts.goal;
  }
  get status(): Status {
    return this.counts.status;
  }
  get moves(): number {
    return this.counts.moves;
  }
  get cost(): number {
    return this.counts.cost;
  }
  get expanded(): number {
    return this.counts.expanded;
  }
  get lastExpanded(): number {
    return this.counts.lastExpanded;
  }
  get worstExpanded(): number {
    return this.counts.worstExpanded;
  }
  get stored(): number {
    return this.counts.stored;
  }
  get mindBytes(): number {
    return this.mind.mindBytes;
  }
  get deskBytes(): number {
    return this.mind.deskBytes;
  }

  get astray(): boolean {
    return this.mind.astray;
  }

  step(options: { thoughts?: boolean } = {}): Step {
    const { counts, mind } = this;
    if (counts.state === counts.goal) {
      counts.status = "arrived";
      counts.lastExpanded = 0;
      return { to: counts.state, cost: 0, expanded: 0, touched: 0, learned: 0, stored: 0, thoughts: null, found: NOTHING };
    }
    const before = mind.foundSoFar;
    const thinks = options.thoughts === true;
    if (thinks) mind.log(true);
    const made = mind.move(counts.state, counts.goal);
    const [to, cost, expanded] = [made("to"), made("cost"), made("expanded")];
    const [touched, learned, stored] = [made("touched"), made("learned"), made("stored")];
    const thoughts = thinks ? mind.thoughts() : null;
    if (thinks) mind.log(false);
    counts.expanded += expanded;
    counts.lastExpanded = expanded;
    counts.worstExpanded = Math.max(counts.worstExpanded, expanded);
    counts.stored += stored;
    if (to >= 0) {
      counts.moves += 1;
      counts.cost += cost;
      counts.state = to;
      counts.status = to === counts.goal ? "arrived" : "walking";
    } else {
      counts.status = to === STUCK ? "stuck" : "unreachable";
    }
    return { to, cost, expanded, touched, learned, stored, thoughts, found: mind.foundSince(before) };
  }

  run(most: number, expansions = Infinity): Int32Array {
    const walked: number[] = [];
    const before = this.counts.expanded;
    while (walked.length < most && this.counts.expanded - before < expansions && this.counts.status !== "arrived") {
      const { to } = this.step();
      if (to === STUCK || to === UNREACHABLE) break;
      walked.push(to);
    }
    return Int32Array.from(walked);
  }

  retarget(goal: Cell): boolean {
    this.check(goal);
    const { counts } = this;
    if (goal === counts.goal) return true;
    const isUnderWay = counts.moves > 0 && this.world.passable[goal] === 1;
    let keeps = false;
    if (isUnderWay) {
      try {
        keeps = this.mind.retarget(goal);
      } catch (error) {
        if (!(error instanceof EngineError)) throw error; // it had no goal yet: the next move begins a new problem
      }
    }
    counts.goal = goal;
    counts.status = counts.state === goal ? "arrived" : "walking";
    return keeps;
  }

  push(state: Cell): void {
    this.check(state);
    this.counts.state = state;
    this.counts.status = state === this.counts.goal ? "arrived" : "walking";
  }

  reset(start: Cell, goal: Cell): void {
    this.counts = this.fresh(start, goal);
    this.mind.begin();
  }

  values(): { cell: Int32Array; value: Float64Array } | null {
    return this.mind.values();
  }

  plan(): Int32Array | null {
    return this.counts.moves > 0 && this.counts.status === "walking" ? this.mind.planFrom(this.counts.state) : null;
  }

  stale(passable: ArrayLike<number>, goal: Cell): Uint8Array | null {
    const { world } = this;
    const [database] = this.known.databases;
    if (database === undefined) return null;
    const file = this.home.module.memory.bytes().subarray(database.at, database.at + database.bytes);
    this.entries ??= new StaleEntries(database.kind, file, world, world.first);
    return this.entries.cells(passable, goal);
  }

  save(): Saved {
    return new SavedAgent(this.mind.save(), { ...this.counts });
  }

  restore(saved: Saved): void {
    if (!(saved instanceof SavedAgent)) throw new EngineError("this is not a copy of such an agent");
    this.mind.restore(saved.mind);
    this.counts = { ...saved.counts };
  }

  dispose(): void {
    this.mind.dispose();
  }
}
