/** The drawing of one walker at any moment of its history: its mind as a bitmap, its path, and its position. */

import { type Bitmap, drawDots, drawLine, type Colours, Fog, type Frame, lineWidth, LoopFreePath, Marks, Mind } from "../draw";
import type { Cell } from "../engine/types";
import { EXPANDED } from "../engine/types";
import type { Walk } from "../walk";
import type { History, Walker } from "../walker";

const FLASH = 800; // expansions that are highlighted as the latest
const TAIL = 160; // moves that are highlighted as the latest

/** A moment of a walk: a beat, how much of the next move is over, and how many thoughts of it are shown. */
export interface Moment {
  readonly beat: number;
  readonly share: number;
  readonly thoughts: number;
}

export interface Layers {
  expanded: boolean;
  learned: boolean;
  plan: boolean;
  path: boolean;
  optimal: boolean;
  stale: boolean;
}

export class WalkerView {
  private readonly mind: Mind;
  /** Over what an agent that discovers its map has not seen yet. */
  private readonly fog: Fog | null;
  /** Where the database of an agent is outdated. */
  private readonly marks: Marks | null;
  /** The number of cells where it is outdated. */
  stale = 0;
  private colours: Colours | null = null;
  private readonly loopFree = new LoopFreePath();
  private thoughtsShown = 0;
  private movesShown = 0;
  private shown: { history: History; epoch: number } | null = null;

  /** The number of the walker. It is a new object after the walk has returned to an earlier beat. */
  constructor(
    readonly walk: Walk,
    private readonly number: number,
  ) {
    const { width, height } = walk.plan.map;
    this.mind = new Mind(width, height);
    this.fog = walk.plan.sight !== null && this.walker.agent ? new Fog(width, height) : null;
    this.marks = (this.walker.agent?.card.needs.length ?? 0) > 0 ? new Marks(width, height) : null;
    this.loopFree.extend(walk.plan.start);
  }

  /** What is drawn over the ground, the lowest first. */
  bitmaps(layers: Layers): Bitmap[] {
    const found: Bitmap[] = this.fog ? [this.fog, this.mind] : [this.mind];
    return this.marks && layers.stale ? [...found, this.marks] : found;
  }

  /** Mark outdated entries on a map as it is at some moment. */
  mark(passable: ArrayLike<number>, goal: Cell, colours: Colours): void {
    if (!this.marks) return;
    const stale = this.walker.agent?.stale(passable, goal) ?? null;
    const cells = stale && stale.map((one, cell) => (passable[cell] ? one : 0)); // walls show what they are
    this.marks.show(cells, colours);
    this.stale = cells ? cells.reduce((sum, one) => sum + one, 0) : 0;
  }

  get walker(): Walker {
    return this.walk.walkers[this.number]!;
  }

  get notation(): string {
    return this.walker.notation;
  }

  paint(colours: Colours, layers: Layers): void {
    this.mind.paint(colours, layers);
    this.colours = colours;
    this.shown = null; // the fog is drawn again
  }

  /** The number of thoughts for the next move that can be stepped through. */
  nextThoughts(beat: number): number {
    const { history } = this.walker;
    const moves = history.movesAt(beat);
    const end = moves < history.moves ? history.thoughtsAt(moves + 1) : history.kind.length;
    return end - history.thoughtsAt(moves);
  }

  private forget(): void {
    this.thoughtsShown = this.movesShown = 0;
    this.mind.forget();
    this.loopFree.forget();
    if (this.colours) this.fog?.cover(this.colours);
    this.extend(this.walk.plan.start);
  }

  private extend(cell: Cell): void {
    this.loopFree.extend(cell);
    this.fog?.look(cell, this.walk.plan.sight ?? 0);
  }

  place(moves: number): Cell {
    return moves > 0 ? this.walker.history.state.at(moves - 1) : this.walk.plan.start;
  }

  /** Update bitmap and path to a moment. */
  show(moment: Moment): void {
    const { history } = this.walker;
    const moves = history.movesAt(moment.beat);
    const settled = history.thoughtsAt(moves);
    const thoughts = settled + Math.min(this.thinking(moment), this.nextThoughts(moment.beat));
    const another = this.shown?.history !== history || this.shown.epoch !== history.epoch;
    if (another || moves < this.movesShown || thoughts < this.thoughtsShown) this.forget();
    this.shown = { history, epoch: history.epoch };
    for (; this.movesShown < moves; this.movesShown++) this.extend(this.place(this.movesShown + 1));
    this.think(thoughts);
    const first = thoughts > settled ? settled : moves > 0 ? history.thoughtsAt(moves - 1) : 0;
    this.flash(Math.max(first, thoughts - FLASH), thoughts);
  }

  /** The thoughts of the next move that are shown: those requested or, in a race, those already paid for. */
  private thinking({ beat, thoughts }: Moment): number {
    const { pending } = this.walker;
    if (thoughts > 0 || !pending || beat < this.walk.beat) return thoughts;
    return Math.floor(pending.share * pending.thoughts);
  }

  private think(thoughts: number): void {
    const { kind, cell, rise } = this.walker.history;
    for (let k = this.thoughtsShown; k < thoughts; k++) {
      if (kind.at(k) === EXPANDED) this.mind.expand(cell.at(k));
      else this.mind.learn(cell.at(k), rise.at(k));
    }
    this.thoughtsShown = thoughts;
  }

  private flash(from: number, to: number): void {
    const { kind, cell } = this.walker.history;
    const cells: number[] = [];
    for (let k = from; k < to; k++) if (kind.at(k) === EXPANDED) cells.push(cell.at(k));
    this.mind.flash(cells, 0, cells.length);
  }

  /** Return the path, with the latest moves thin and the path without loops thick, and the agent's plan. */
  drawPath(context: CanvasRenderingContext2D, frame: Frame, layers: Layers, colours: Colours, colour: string): void {
    const { history } = this.walker;
    const thick = lineWidth(frame);
    if (layers.path) {
      const from = Math.max(0, this.movesShown - TAIL);
      drawLine(context, frame, history.state.view().subarray(from, this.movesShown), { width: thick / 2, colour, opacity: 0.6 });
      drawLine(context, frame, this.loopFree.cells, { width: thick, colour });
    }
    const plan = layers.plan && this.movesShown === history.moves ? this.walker.agent?.plan() : null;
    if (plan) drawLine(context, frame, plan, { width: thick * 0.75, colour: colours.plan, dash: [thick, thick * 1.8] });
  }

  drawAgent(context: CanvasRenderingContext2D, frame: Frame, moment: Moment, colours: Colours, colour: string): void {
    const { history } = this.walker;
    const { beat, share } = moment;
    const goesOn = this.movesShown < history.moves && history.beat.at(this.movesShown) === beat + 1;
    const next = goesOn ? this.movesShown + 1 : this.movesShown;
    const place = frame.placeBetween(this.place(this.movesShown), this.place(next), share);
    drawDots(context, [place], frame.dotSize(context.canvas), colour, colours.ring);
  }

  /** The numbers of this moment. */
  numbers(moment: Moment): { moves: number; walked: number; now: number; worst: number; total: number } {
    const { history } = this.walker;
    const moves = history.movesAt(moment.beat);
    const last = moves - 1;
    return {
      moves,
      walked: moves > 0 ? history.walked.at(last) : 0,
      now: moves > 0 ? history.expanded.at(last) : 0,
      worst: moves > 0 ? history.worst.at(last) : 0,
      total: moves > 0 ? history.total.at(last) : 0,
    };
  }
}
