/**
 * A walk: agents in one world, on one clock, with all that they did and thought, so that it can be looked at again.
 *
 * The clock counts beats. In a beat every agent makes one move or, in a race, gets the same number of expansions and
 * moves as often as it can pay for. Walls and goals change between beats. To go back is to look at an earlier beat; if
 * something is changed there, the agents are led through the same events up to that beat again, and what came after is
 * forgotten.
 */

import type { Cell, Engine, Saved, WalkingAgent, World } from "./engine/types";
import { EXPANDED, EngineError, STUCK, UNREACHABLE } from "./engine/types";
import { Column } from "./column";
import { type GridMap, GROUND, WALL, passable } from "./world/map";

export const MOST_AGENTS = 6;
const DIAGONAL = Math.SQRT2;
const MOST_THOUGHTS = 1_000_000; // of an agent, as in a trace
const MOST_MOVES = 1_000_000;

export type Ending = "walking" | "arrived" | "stuck" | "unreachable" | "limit";

/** A change of the world at the beginning of a beat. */
export type Event =
  | { readonly beat: number; readonly cells: readonly Cell[]; readonly open: boolean }
  | { readonly beat: number; readonly goal: Cell };

export interface Problem {
  readonly map: GridMap;
  readonly start: Cell;
  readonly goal: Cell;
}

/** What one agent did and thought, move by move. */
export class History {
  readonly state = new Column(Int32Array);
  readonly cost = new Column(Float64Array);
  readonly expanded = new Column(Int32Array);
  readonly learned = new Column(Float64Array);
  readonly beat = new Column(Int32Array); // in which the move was made
  readonly thoughts = new Column(Int32Array); // so many were thought up to and with this move
  readonly kind = new Column(Uint8Array);
  readonly cell = new Column(Int32Array);
  readonly value = new Column(Float64Array);
  readonly rise = new Column(Float32Array); // of a learned value above the straight-line distance
  readonly walked = new Column(Float64Array); // cost after the move
  readonly total = new Column(Float64Array); // expansions after the move
  readonly worst = new Column(Int32Array); // the most for one move so far
  cut = false; // whether there were more thoughts than are kept

  get moves(): number {
    return this.state.length;
  }

  /** So many moves were made up to and with this beat. */
  movesAt(beat: number): number {
    return this.beat.countUpTo(beat);
  }

  thoughtsAt(moves: number): number {
    return moves > 0 ? this.thoughts.at(moves - 1) : 0;
  }

  truncate(moves: number): void {
    const thoughts = this.thoughtsAt(moves);
    for (const column of [this.state, this.cost, this.expanded, this.learned, this.beat, this.thoughts]) {
      column.truncate(moves);
    }
    for (const column of [this.walked, this.total, this.worst]) column.truncate(moves);
    for (const column of [this.kind, this.cell, this.value, this.rise]) column.truncate(thoughts);
  }
}

/** One agent on its way. */
export class Walker {
  readonly history = new History();
  /** When it ended: the first beat after which it stands still. Infinity while it walks. */
  ended = Infinity;
  ending: Ending = "walking";
  saved = 0; // expansions it has in hand, in a race
  /** The move that is being paid for, in a race. */
  private due: { to: number; cost: number; expanded: number; learned: number } | null = null;

  constructor(
    readonly agent: WalkingAgent,
    private readonly width: number,
  ) {}

  get over(): boolean {
    return this.ending === "arrived" || this.ending === "limit";
  }

  /** One beat: a move, or as many as `budget` expansions pay for. */
  beat(number: number, budget: number | null): void {
    if (this.over) return;
    if (budget === null) {
      this.make(number, this.think());
      return;
    }
    this.saved += budget;
    // At most one move in a beat: nobody runs.
    this.due ??= this.think();
    if (this.due.expanded > this.saved) return;
    this.saved = Math.min(budget, this.saved - this.due.expanded);
    const move = this.due;
    this.due = null;
    this.make(number, move);
  }

  private think(): { to: number; cost: number; expanded: number; learned: number } {
    const { history } = this;
    const wanted = history.kind.length < MOST_THOUGHTS;
    const step = this.agent.step({ thoughts: wanted });
    const thoughts = step.thoughts;
    if (!thoughts || thoughts.lost > 0) history.cut = true;
    if (thoughts) {
      history.kind.append(thoughts.kind);
      history.cell.append(thoughts.cell);
      history.value.append(thoughts.value);
      for (let k = 0; k < thoughts.cell.length; k++) history.rise.push(this.riseOf(thoughts, k));
    }
    return { to: step.to, cost: step.cost, expanded: step.expanded, learned: step.learned };
  }

  private riseOf({ kind, cell, value }: { kind: Uint8Array; cell: Int32Array; value: Float64Array }, k: number): number {
    return kind[k] === EXPANDED ? 0 : value[k]! - straight(cell[k]!, this.agent.goal, this.width);
  }

  private make(number: number, move: { to: number; cost: number; expanded: number; learned: number }): void {
    const { history } = this;
    if (move.to === STUCK || move.to === UNREACHABLE) {
      this.ending = move.to === STUCK ? "stuck" : "unreachable";
      if (this.ended === Infinity) this.ended = number;
      return;
    }
    this.ended = Infinity;
    this.ending = "walking";
    const moves = history.moves;
    history.state.push(move.to);
    history.cost.push(move.cost);
    history.expanded.push(move.expanded);
    history.learned.push(move.learned);
    history.beat.push(number);
    history.thoughts.push(history.kind.length);
    history.walked.push((moves > 0 ? history.walked.at(moves - 1) : 0) + move.cost);
    history.total.push((moves > 0 ? history.total.at(moves - 1) : 0) + move.expanded);
    history.worst.push(Math.max(moves > 0 ? history.worst.at(moves - 1) : 0, move.expanded));
    if (move.to === this.agent.goal) this.end("arrived", number);
    else if (history.moves >= MOST_MOVES) this.end("limit", number);
  }

  private end(ending: Ending, number: number): void {
    this.ending = ending;
    this.ended = number;
  }

  /** The goal has moved: who had arrived or given up goes on. */
  retarget(goal: Cell): void {
    this.agent.retarget(goal);
    this.wake();
  }

  /** The map has changed: who saw no way looks again. */
  wake(): void {
    if (this.ending === "limit" || this.agent.state === this.agent.goal) return;
    this.ending = "walking";
    this.ended = Infinity;
  }
}

export function straight(cell: Cell, goal: Cell, width: number): number {
  const dx = Math.abs((cell % width) - (goal % width));
  const dy = Math.abs(Math.floor(cell / width) - Math.floor(goal / width));
  return Math.abs(dx - dy) + Math.min(dx, dy) * DIAGONAL;
}
