/** One agent that walks, with all that it did and thought. */

import { Column } from "./column";
import type { Cell, WalkingAgent } from "./engine/types";
import { EXPANDED, EngineError, STUCK, UNREACHABLE } from "./engine/types";

const DIAGONAL = Math.SQRT2;
const MOST_THOUGHTS = 1_000_000; // of an agent, as in a trace
const MOST_MOVES = 1_000_000;

export type Ending = "walking" | "arrived" | "stuck" | "unreachable" | "limit" | "refused";

/** The moves and thoughts of one agent. */
export class History {
  readonly state = new Column(Int32Array);
  readonly cost = new Column(Float64Array);
  readonly expanded = new Column(Int32Array);
  readonly learned = new Column(Float64Array);
  readonly beat = new Column(Int32Array); // in which the move was made
  readonly found = new Column(Int32Array); // the number of cells found to differ from what was believed, up to and with this move
  readonly foundCell = new Column(Int32Array);
  readonly thoughts = new Column(Int32Array); // the number of thoughts up to and with this move
  readonly kind = new Column(Uint8Array);
  readonly cell = new Column(Int32Array);
  readonly value = new Column(Float64Array);
  readonly rise = new Column(Float32Array); // of a learned value above the straight-line distance
  readonly walked = new Column(Float64Array); // cost after the move
  readonly total = new Column(Float64Array); // expansions after the move
  readonly worst = new Column(Int32Array); // the most for one move so far
  epoch = 0; // how often something in it was undone
  cut = false; // whether there were more thoughts than are kept

  get moves(): number {
    return this.state.length;
  }

  /** Return how many moves were made up to and with this beat. */
  movesAt(beat: number): number {
    return this.beat.countUpTo(beat);
  }

  thoughtsAt(moves: number): number {
    return moves > 0 ? this.thoughts.at(moves - 1) : 0;
  }

  foundAt(moves: number): number {
    return moves > 0 ? this.found.at(moves - 1) : 0;
  }

  truncate(moves: number): void {
    this.epoch++;
    const thoughts = this.thoughtsAt(moves);
    this.foundCell.truncate(this.foundAt(moves));
    for (const column of [this.state, this.cost, this.expanded, this.learned, this.beat, this.found, this.thoughts]) {
      column.truncate(moves);
    }
    for (const column of [this.walked, this.total, this.worst]) column.truncate(moves);
    for (const column of [this.kind, this.cell, this.value, this.rise]) column.truncate(thoughts);
  }
}

/** A planned move; in a race it is made once it is paid for. */
interface Move {
  readonly to: number;
  readonly cost: number;
  readonly expanded: number;
  readonly learned: number;
}

/** One agent that walks. */
export class Walker {
  readonly history = new History();
  ending: Ending = "walking";
  /** Why the agent cannot continue, in a sentence. */
  refusal: string | null = null;
  /** The beat in which it ended; Infinity while it walks. */
  ended = Infinity;
  private inHand = 0; // expansions, in a race
  private due: Move | null = null;

  /** If there is no agent, `why` is a sentence that says why. */
  constructor(
    readonly notation: string,
    readonly agent: WalkingAgent | null,
    private readonly width: number,
    why: string | null = null,
  ) {
    if (!agent) this.refuse(why ?? "it cannot walk here", 0);
  }

  /** Return how much of the thinking for the next move is paid for, from 0 to 1, and the number of its thoughts. */
  get pending(): { share: number; thoughts: number } | null {
    if (!this.due) return null;
    const thoughts = this.history.kind.length - this.history.thoughtsAt(this.history.moves);
    return { share: Math.min(1, this.inHand / Math.max(1, this.due.expanded)), thoughts };
  }

  get atRest(): boolean {
    return this.ending !== "walking";
  }

  /** Run one beat: make a move or, in a race, make it once its expansions are paid for. */
  beat(number: number, budget: number | null): void {
    if (!this.agent || this.atRest) return;
    try {
      if (budget === null) {
        this.make(number, this.think(this.agent));
        return;
      }
      this.inHand += budget;
      this.due ??= this.think(this.agent);
      if (this.due.expanded > this.inHand) return;
      const move = this.due;
      this.due = null;
      this.inHand = 0; // unused expansions are lost
      this.make(number, move);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.refuse(error.message, number);
    }
  }

  private think(agent: WalkingAgent): Move {
    const { history } = this;
    const { to, cost, expanded, learned, thoughts, found } = agent.step({ thoughts: history.kind.length < MOST_THOUGHTS });
    history.foundCell.append(found);
    if (!thoughts || thoughts.lost > 0) history.cut = true;
    if (thoughts) {
      const { kind, cell, value } = thoughts;
      history.kind.append(kind);
      history.cell.append(cell);
      history.value.append(value);
      for (let k = 0; k < cell.length; k++) {
        history.rise.push(kind[k] === EXPANDED ? 0 : value[k]! - straight(cell[k]!, agent.goal, this.width));
      }
    }
    return { to, cost, expanded, learned };
  }

  private make(number: number, move: Move): void {
    const { history } = this;
    if (move.to === STUCK || move.to === UNREACHABLE) {
      this.end(move.to === STUCK ? "stuck" : "unreachable", number);
      return;
    }
    const moves = history.moves;
    const before = (column: { at(index: number): number }): number => (moves > 0 ? column.at(moves - 1) : 0);
    history.walked.push(before(history.walked) + move.cost);
    history.total.push(before(history.total) + move.expanded);
    history.worst.push(Math.max(before(history.worst), move.expanded));
    history.state.push(move.to);
    history.cost.push(move.cost);
    history.expanded.push(move.expanded);
    history.learned.push(move.learned);
    history.beat.push(number);
    history.found.push(history.foundCell.length);
    history.thoughts.push(history.kind.length);
    if (move.to === this.agent?.goal) this.end("arrived", number);
    else if (history.moves >= MOST_MOVES) this.end("limit", number);
  }

  private end(ending: Ending, number: number): void {
    this.ending = ending;
    this.ended = number;
  }

  private refuse(why: string, number: number): void {
    this.refusal = why;
    this.end("refused", number);
  }

  cutOff(number: number): void {
    this.end("unreachable", number);
  }

  /** Before the world changes, drop a move that is not made yet: it was planned for another world. */
  drop(place: Cell): void {
    if (!this.due || !this.agent) return;
    this.due = null;
    this.history.truncate(this.history.moves);
    this.agent.push(place);
  }

  /** After the world has changed, let an agent that had arrived or found no path try again. */
  wake(goal: Cell): void {
    if (!this.agent || this.ending === "limit" || this.ending === "refused") return;
    if (this.agent.goal !== goal) this.agent.retarget(goal);
    if (this.agent.state === goal) return;
    this.ending = "walking";
    this.ended = Infinity;
  }
}

export function straight(cell: Cell, goal: Cell, width: number): number {
  const dx = Math.abs((cell % width) - (goal % width));
  const dy = Math.abs(Math.floor(cell / width) - Math.floor(goal / width));
  return Math.abs(dx - dy) + Math.min(dx, dy) * DIAGONAL;
}
