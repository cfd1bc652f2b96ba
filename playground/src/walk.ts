/**
 * A walk: agents in one world, on one clock, with a record of all moves and thoughts, so that it can be shown again.
 *
 * The clock counts beats. In a beat every agent makes one move or, in a race, gets the same number of expansions and
 * moves once it can pay for its move. Walls and goals change between beats. Going back shows an earlier beat. If
 * something is changed there, the agents repeat the same events up to that beat, and what came after is discarded.
 */

import type { Cell, Engine, World } from "./engine/types";
import { EngineError } from "./engine/types";
import { Walker } from "./walker";
import { type GridMap, GROUND, WALL, passable } from "./world/map";

export const MOST_AGENTS = 6;

/** A change of the world at the beginning of a beat. */
export type Event =
  | { readonly beat: number; readonly cells: readonly Cell[]; readonly open: boolean }
  | { readonly beat: number; readonly goal: Cell };

/** The input of a walk, with which the same walk can be repeated. */
export interface Plan {
  readonly map: GridMap;
  readonly start: Cell;
  readonly goal: Cell;
  readonly notations: readonly string[];
  /** How far the agents see, in cells; null: they know the map. */
  readonly sight: number | null;
  /** Expansions for each agent in a beat; null lets each make one move. */
  readonly budget: number | null;
  readonly events: readonly Event[];
}

export class Walk {
  private world: World;
  walkers: Walker[];
  /** The last beat that has been walked. */
  beat = 0;
  readonly events: Event[] = [];
  private changedLately = false; // whether an agent may have been cut off
  private shortest: { version: number; goal: Cell; path: Optimal | null } | null = null;

  constructor(
    private readonly engine: Engine,
    readonly plan: Plan,
  ) {
    [this.world, this.walkers] = this.begin();
    this.events.push(...plan.events);
    this.applyEvents(1);
  }

  get width(): number {
    return this.plan.map.width;
  }

  private begin(): [World, Walker[]] {
    const { map, start, goal, notations, sight } = this.plan;
    const { name, width, height } = map;
    const world = this.engine.world({ name, width, height, passable: map.terrain.map(free) }, notations);
    const walkers = notations.map((notation) => {
      try {
        const why = this.engine.obstacle(world, notation, sight);
        if (why !== null) return new Walker(notation, null, map.width, why);
        return new Walker(notation, this.engine.agent(world, notation, start, goal, sight), map.width);
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        return new Walker(notation, null, map.width, error.message);
      }
    });
    return [world, walkers];
  }

  /** Return the goal after the events up to and with a beat. */
  goalAt(beat: number): Cell {
    const moved = this.events.filter((event) => "goal" in event && event.beat <= beat + 1);
    const last = moved[moved.length - 1];
    return last && "goal" in last ? last.goal : this.plan.goal;
  }

  get goal(): Cell {
    return this.goalAt(this.beat);
  }

  /** Whether anything has changed since the first move: then no path is called optimal. */
  get changed(): boolean {
    return this.events.some((event) => event.beat > 1);
  }

  /** The shortest path from the start to the goal, on the map as it is now. */
  get optimal(): Optimal | null {
    const { version } = this.world;
    if (this.shortest?.version !== version || this.shortest.goal !== this.goal) {
      this.shortest = { version, goal: this.goal, path: this.world.optimal(this.plan.start, this.goal) };
    }
    return this.shortest.path;
  }

  get over(): boolean {
    const last = this.events[this.events.length - 1];
    return (!last || last.beat <= this.beat + 1) && this.walkers.every((walker) => walker.atRest);
  }

  /** Run one beat for all agents. */
  advance(): void {
    this.beat++;
    if (this.changedLately) this.findCutOff();
    for (const walker of this.walkers) walker.beat(this.beat, this.plan.budget);
    this.applyEvents(this.beat + 1);
  }

  /** Let agents that can no longer reach the goal wait for the next change, as in the library's scenes; agents with sight find out. */
  private findCutOff(): void {
    this.changedLately = false;
    if (this.plan.sight !== null) return;
    const connected = flood(this.world.passable, this.width, this.goal);
    for (const walker of this.walkers) {
      if (!walker.atRest && !connected[this.placeOf(walker)]) walker.cutOff(this.beat);
    }
  }

  private applyEvents(beat: number): void {
    for (const event of this.events) if (event.beat === beat) this.apply(event);
  }

  private apply(event: Event): void {
    for (const walker of this.walkers) walker.drop(this.placeOf(walker));
    if ("cells" in event) this.world.edit(event.cells, event.open);
    this.changedLately = true;
    const goal = this.goal;
    for (const walker of this.walkers) walker.wake(goal);
  }

  private placeOf({ history }: Walker): Cell {
    return history.moves > 0 ? history.state.at(history.moves - 1) : this.plan.start;
  }

  isFree(cell: Cell): boolean {
    return this.world.passable[cell] === 1;
  }

  /** Open or close cells before the beat that follows `at`, except cells that are in use. */
  edit(cells: readonly Cell[], open: boolean, at: number): Cell[] {
    if (at < this.beat) this.rewind(at);
    const taken = new Set([...this.walkers.map((walker) => this.placeOf(walker)), this.goal]);
    const passable = this.world.passable;
    const changed = cells.filter((cell) => passable[cell] !== (open ? 1 : 0) && (open || !taken.has(cell)));
    if (changed.length > 0) this.happen({ beat: this.beat + 1, cells: changed, open });
    return changed;
  }

  /** Move the goal before the beat that follows `at`; return false if it cannot be there. */
  retarget(goal: Cell, at: number): boolean {
    if (at < this.beat) this.rewind(at);
    if (!this.isFree(goal)) return false;
    if (goal !== this.goal) this.happen({ beat: this.beat + 1, goal });
    return true;
  }

  /** Discard the later events of a link: from here on it is another walk. */
  private happen(event: Event): void {
    this.events.splice(0, this.events.length, ...this.events.filter((other) => other.beat <= event.beat), event);
    this.apply(event);
  }

  /** Return to an earlier beat, and discard the later ones. */
  rewind(beat: number): void {
    const events = this.events.filter((event) => event.beat <= beat + 1);
    this.free();
    [this.world, this.walkers] = this.begin();
    this.events.length = 0;
    this.events.push(...events);
    this.beat = 0;
    this.changedLately = false;
    this.applyEvents(1);
    while (this.beat < beat) this.advance();
  }

  private free(): void {
    for (const { agent } of this.walkers) agent?.dispose();
    this.world.dispose();
  }

  dispose(): void {
    this.free();
    this.walkers = [];
  }
}

type Optimal = NonNullable<ReturnType<World["optimal"]>>;

function free(character: number): number {
  return passable(character) ? 1 : 0;
}

/** Return the cells that are connected with one. A diagonal needs both cells beside it, so straight moves find all. */
function flood(free: Uint8Array, width: number, from: Cell): Uint8Array {
  const reached = new Uint8Array(free.length);
  const queue = [from];
  reached[from] = 1;
  while (queue.length > 0) {
    const cell = queue.pop()!;
    const x = cell % width;
    for (const next of [x > 0 ? cell - 1 : -1, x + 1 < width ? cell + 1 : -1, cell - width, cell + width]) {
      if (free[next] !== 1 || reached[next] === 1) continue;
      reached[next] = 1;
      queue.push(next);
    }
  }
  return reached;
}

/** Return the map's characters after all events before the next beat. */
export function terrainAt(map: GridMap, events: readonly Event[], beat: number): Uint8Array {
  const terrain = map.terrain.slice();
  for (const event of events) {
    if (event.beat > beat + 1 || !("cells" in event)) continue;
    for (const cell of event.cells) terrain[cell] = event.open ? GROUND : WALL;
  }
  return terrain;
}
