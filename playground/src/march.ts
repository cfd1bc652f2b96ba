/**
 * A crowd that walks: its units, their errands, and a log of changes by hand, so that the same march can be repeated up
 * to any tick. Budgets count expansions and chance is seeded, so every move is reproduced.
 */

import { CrowdHistory, type Shown } from "./crowdhistory";
import { groupUnits } from "./draw";
import type { Cell, Crowd, Engine, Tick, World } from "./engine/types";
import { OUTCOMES } from "./engine/types";
import { connected, shuffled, spread } from "./errands";
import { Chance } from "./world/chance";
import { type GridMap, GROUND, passable, WALL } from "./world/map";

export type Errand = "goal" | "streams" | "anywhere";

export interface CrowdPlan {
  readonly map: GridMap;
  readonly goal: Cell;
  readonly notation: string;
  readonly units: number;
  readonly errand: Errand;
  /** Whether units that have arrived get new goals. */
  readonly endless: boolean;
  readonly bodies: boolean;
  /** Expansions in a tick; null for no limit. */
  readonly budget: number | null;
}

/** A change by hand after a tick. */
type Deed =
  | { readonly tick: number; readonly cells: readonly Cell[]; readonly open: boolean }
  | { readonly tick: number; readonly goal: Cell }
  | { readonly tick: number; readonly budget: number | null };

const STREAMS = 6;
const KEPT = 1200; // ticks that can be shown again
export const WALKING = OUTCOMES.indexOf("walking");
const ARRIVED = OUTCOMES.indexOf("arrived");

export class March {
  private world!: World;
  private crowd!: Crowd;
  private chance!: Chance;
  private history!: CrowdHistory;
  private targets: Cell[] = [];
  private states = new Int32Array(0);
  private goals = new Int32Array(0);
  private outcomes = new Uint8Array(0);
  private deeds: Deed[] = [];
  private readonly cells: Int32Array; // free cells that are connected with the goal
  budget: number | null = null;
  ticks = 0;

  constructor(
    private readonly engine: Engine,
    readonly plan: CrowdPlan,
  ) {
    this.cells = connected(plan.map, plan.goal);
    this.begin();
  }

  private begin(): void {
    const { map, notation, units, bodies, goal, errand } = this.plan;
    this.ticks = 0;
    this.budget = this.plan.budget;
    this.chance = new Chance(1);
    this.targets = errand === "goal" ? [goal] : spread(this.cells, map.width, STREAMS);
    this.world = this.engine.world({
      width: map.width,
      height: map.height,
      passable: map.terrain.map((character) => (passable(character) ? 1 : 0)),
    });
    try {
      this.crowd = this.engine.crowd(this.world, notation, { units, bodies });
      this.populate();
    } catch (error) {
      this.world.dispose();
      throw error;
    }
    this.history = new CrowdHistory(this.crowd.count, KEPT);
    this.look();
    this.history.push(this.shown);
  }

  /** Add the units, each on a different cell as long as there are enough. */
  private populate(): void {
    const { units, bodies } = this.plan;
    const order = shuffled(this.cells, this.chance);
    const most = bodies ? Math.min(units, Math.floor(order.length / 2)) : units;
    for (let k = 0; k < most; k++) this.crowd.add(order[k % order.length]!, this.errand(k));
  }

  private errand(unit: number): Cell {
    if (this.plan.errand === "anywhere") return this.anywhere();
    return this.targets[unit % this.targets.length]!;
  }

  private anywhere(): Cell {
    return this.cells[this.chance.below(this.cells.length)]!;
  }

  get notation(): string {
    return this.crowd.notation;
  }

  get count(): number {
    return this.crowd.count;
  }

  get bytes(): number {
    return this.crowd.bytes;
  }

  /** The targets, each with its colour; none if units are coloured by direction. */
  get coloured(): readonly Cell[] {
    return this.plan.errand === "anywhere" ? [] : this.targets;
  }

  get goal(): Cell | null {
    return this.plan.errand === "goal" ? this.targets[0]! : null;
  }

  get over(): boolean {
    return !this.plan.endless && !this.outcomes.includes(WALKING);
  }

  /** The earliest tick that can be shown. */
  get first(): number {
    return this.history.first;
  }

  at(tick: number): Shown {
    return this.history.at(tick);
  }

  /** Return how often cells were changed up to a tick. */
  editsAt(tick: number): number {
    return this.deeds.filter((deed) => "cells" in deed && deed.tick <= tick).length;
  }

  /** Return the map's characters at a tick. */
  terrainAt(tick: number): Uint8Array {
    const terrain = this.plan.map.terrain.slice();
    for (const deed of this.deeds) {
      if (!("cells" in deed) || deed.tick > tick) continue;
      for (const cell of deed.cells) terrain[cell] = deed.open ? GROUND : WALL;
    }
    return terrain;
  }

  /** Return the units as they are now, coloured by target or, if each unit has its own, by direction. */
  private get shown(): Shown {
    const { map, errand } = this.plan;
    const groups =
      errand === "anywhere"
        ? groupUnits(this.goals, map.width, map.height).of
        : Uint8Array.from(this.goals, (goal) => Math.max(0, this.targets.indexOf(goal)));
    return { states: this.states, outcomes: this.outcomes, groups };
  }

  private look(): void {
    const { count } = this.crowd;
    if (this.states.length !== count) {
      [this.states, this.goals, this.outcomes] = [new Int32Array(count), new Int32Array(count), new Uint8Array(count)];
    }
    this.crowd.states(this.states);
    this.crowd.goals(this.goals);
    this.crowd.outcomes(this.outcomes);
  }

  tick(): Tick {
    const tick = this.crowd.tick(this.budget === null ? {} : { expansions: this.budget });
    this.ticks++;
    this.look();
    if (this.plan.endless && tick.arrived > 0) this.sendOn();
    this.history.push(this.shown);
    return tick;
  }

  /** Send all units that have arrived to new goals. */
  private sendOn(): void {
    for (let unit = 0; unit < this.crowd.count; unit++) {
      if (this.outcomes[unit] !== ARRIVED) continue;
      const next = this.plan.errand === "streams" ? this.nextTarget(unit) : this.elsewhere(unit);
      if (next !== this.states[unit]) this.crowd.send(unit, next);
    }
    this.look();
  }

  private nextTarget(unit: number): Cell {
    return this.targets[(this.targets.indexOf(this.goals[unit]!) + 1) % this.targets.length]!;
  }

  /** Return another place; units with one goal return to it. */
  private elsewhere(unit: number): Cell {
    const there = this.targets[0]!;
    if (this.plan.errand === "goal" && this.states[unit] !== there) return there;
    return this.anywhere();
  }

  // --- changes by hand, after the tick that is shown ---

  /** Open or close cells, except those that are in use; return the cells that changed. */
  edit(cells: readonly Cell[], open: boolean, at: number): Cell[] {
    this.rewind(at);
    const taken = new Set<Cell>([...this.states, ...this.targets]);
    const { passable: free } = this.world;
    const changed = cells.filter((cell) => free[cell] !== (open ? 1 : 0) && (open || !taken.has(cell)));
    if (changed.length > 0) this.do({ tick: this.ticks, cells: changed, open });
    return changed;
  }

  /** Send all units to another goal. */
  moveGoal(goal: Cell, at: number): void {
    if (this.plan.errand !== "goal") return;
    this.rewind(at);
    this.do({ tick: this.ticks, goal });
  }

  /** Set the budget of the ticks from here on. */
  spend(budget: number | null, at: number): void {
    this.rewind(at);
    this.do({ tick: this.ticks, budget });
  }

  private do(deed: Deed): void {
    this.deeds.push(deed);
    this.apply(deed);
    this.look();
    this.history.amend(this.shown);
  }

  private apply(deed: Deed): void {
    if ("cells" in deed) {
      this.world.edit(deed.cells, deed.open);
      this.resend();
    } else if ("goal" in deed) {
      this.targets[0] = deed.goal;
      for (let unit = 0; unit < this.crowd.count; unit++) this.crowd.send(unit, deed.goal);
    } else this.budget = deed.budget;
  }

  /** Let units that found no path search again. */
  private resend(): void {
    for (let unit = 0; unit < this.crowd.count; unit++) {
      const outcome = this.outcomes[unit]!;
      if (outcome !== WALKING && outcome !== ARRIVED && OUTCOMES[outcome] !== "none") this.crowd.send(unit, this.goals[unit]!);
    }
  }

  /** Return to an earlier tick, and discard the later ones. */
  private rewind(tick: number): void {
    if (tick >= this.ticks) return;
    const deeds = this.deeds.filter((deed) => deed.tick <= tick);
    this.dispose();
    this.begin();
    this.deeds = deeds;
    for (let done = 0; ; this.tick()) {
      for (; done < deeds.length && deeds[done]!.tick === this.ticks; done++) {
        this.apply(deeds[done]!);
        this.look();
        this.history.amend(this.shown);
      }
      if (this.ticks === tick) return;
    }
  }

  dispose(): void {
    this.crowd.dispose();
    this.world.dispose();
  }
}
