/** A walk on the stage: one to six agents side by side or on one map, at any moment. */

import { drawDots, drawLine, Ground, lineWidth } from "./draw";
import type { Cell, Engine } from "./engine/types";
import { RUSHING, type Session, type Setting, THINKING } from "./session";
import { h } from "./ui/dom";
import { NUMBERS, swatch, WalkerTexts } from "./ui/walkertexts";
import { Board, type Hands, type Marker } from "./view/board";
import { arrange } from "./view/columns";
import { type Moment, WalkerView } from "./view/walkerview";
import { type Plan, terrainAt, Walk } from "./walk";
import { GROUND, passable, WALL } from "./world/map";

export type Layout = "tiles" | "one";

const SMOOTH = 40; // beats per second, below which agents glide from cell to cell

/** One canvas, and the walkers drawn on it. */
interface Tile {
  readonly board: Board;
  readonly views: readonly WalkerView[];
}

export class WalkSession implements Session {
  readonly root = h("div", { class: "stage-inner" });
  readonly walk: Walk;
  private readonly ground: Ground;
  private readonly views: readonly WalkerView[];
  private readonly tiles: readonly Tile[];
  private readonly texts: WalkerTexts[] = [];
  private time = 0;
  private thoughts = 0;
  private dirty = true;
  private eventsShown = "";
  private pending: { cells: Set<Cell>; open: boolean } = { cells: new Set(), open: false };
  private moved: Partial<Record<Marker, Cell>> = {};
  playing = false;
  rushing = false;
  /** The walker whose mind is shown on a map for all. */
  focus = 0;

  constructor(
    engine: Engine,
    private readonly setting: Setting,
    plan: Plan,
    readonly layout: Layout,
  ) {
    this.walk = new Walk(engine, plan);
    const { map } = plan;
    this.ground = new Ground(map.width, map.height, map.terrain.slice());
    this.views = this.walk.walkers.map((_, k) => new WalkerView(this.walk, k));
    this.tiles = this.build();
    this.repaint();
  }

  get race(): boolean {
    return this.walk.plan.budget !== null;
  }

  get beatName(): "move" | "beat" {
    return this.race ? "beat" : "move";
  }

  // --- the stage ---

  private build(): Tile[] {
    if (this.layout === "one") return [this.buildShared()];
    return this.views.map((view, k) => {
      const board = this.board(`${view.notation} on ${this.walk.plan.map.name}`);
      const { status, numbers } = this.textsOf(view);
      const list = h("dl", { class: "numbers" });
      for (const [name, title] of NUMBERS) list.append(h("div", {}, h("dt", {}, title), numbers[name]));
      const caption = h("figcaption", {}, swatch(k), h("strong", {}, view.notation), status);
      this.root.append(h("figure", { class: "tile" }, caption, board.canvas, list));
      return { board, views: [view] };
    });
  }

  private buildShared(): Tile {
    const board = this.board(`${this.views.length} agents on ${this.walk.plan.map.name}`);
    const head = h("tr", {}, h("th", { scope: "col" }, "Agent"), ...NUMBERS.map(([, title]) => h("th", { scope: "col" }, title)));
    head.append(h("th", { scope: "col" }, "State"));
    const rows = this.views.map((view, k) => {
      const { status, numbers } = this.textsOf(view);
      const radio = h("input", { type: "radio", name: "focus", "aria-label": `Show what ${view.notation} thinks` });
      radio.checked = k === this.focus;
      radio.addEventListener("change", () => {
        this.focus = k;
        this.dirty = true;
      });
      const name = h("th", { scope: "row" }, h("label", {}, radio, swatch(k), view.notation));
      return h("tr", {}, name, ...NUMBERS.map(([key]) => h("td", {}, numbers[key])), h("td", {}, status));
    });
    const table = h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows));
    const scroll = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Numbers of the agents" }, table);
    this.root.append(h("figure", { class: "tile" }, board.canvas, scroll));
    return { board, views: this.views };
  }

  private textsOf(view: WalkerView): WalkerTexts {
    const texts = new WalkerTexts(this.walk, view, this.layout === "one" ? "span" : "dd");
    this.texts.push(texts);
    return texts;
  }

  private board(label: string): Board {
    return new Board(this.setting.camera, this.hands(), `${label}. Arrow keys move a cursor: w draws a wall, x erases, s sets the start, g the goal`);
  }

  private hands(): Hands {
    return {
      tool: () => this.setting.tool,
      brush: () => this.setting.brush,
      marker: (which) => this.marker(which),
      draw: (cells, open, done) => this.draw(cells, open, done),
      put: (which, cell, done) => this.put(which, cell, done),
      changed: () => (this.dirty = true),
      announce: (text) => this.setting.announce(text),
    };
  }

  // --- changes by hand ---

  /** Whether no agent has moved yet: then changes belong to the problem. */
  private get fresh(): boolean {
    return this.walk.beat === 0 || (this.at === 0 && !this.playing);
  }

  private draw(cells: readonly Cell[], open: boolean, done: boolean): void {
    this.dirty = true;
    if (!this.fresh) {
      const changed = this.walk.edit(cells, open, this.editBeat());
      this.catchUp();
      if (done || changed.length > 0) this.setting.changed();
      return;
    }
    const { start, goal } = this.walk.plan;
    this.pending.open = open;
    for (const cell of cells) {
      if (!open && (cell === start || cell === goal)) continue;
      this.pending.cells.add(cell);
      this.ground.change(cell, open ? GROUND : WALL);
    }
    if (!done) return;
    const stroke = this.pending;
    this.pending = { cells: new Set(), open: false };
    if (stroke.cells.size > 0) this.setting.rebuild({ cells: [...stroke.cells], open: stroke.open });
  }

  /** The beat after which a change is made: the last one, or the one shown if the walk is paused before it. */
  private editBeat(): number {
    return this.playing ? this.walk.beat : this.at;
  }

  /** After a change in the past, discard the later beats. */
  private catchUp(): void {
    this.time = Math.min(this.time, this.walk.beat);
    this.thoughts = 0;
  }

  private put(which: Marker, cell: Cell, done: boolean): void {
    this.dirty = true;
    const free = passable(this.ground.terrain[cell] ?? WALL);
    if (which === "goal" && !this.fresh) {
      if (!free) {
        if (done) this.setting.announce("there is a wall in that cell");
        return;
      }
      this.walk.retarget(cell, this.editBeat());
      this.catchUp();
      this.setting.changed();
      return;
    }
    this.moved = { [which]: cell };
    if (!done) return;
    this.moved = {};
    if (free) this.setting.rebuild({ [which]: cell });
    else this.setting.announce("there is a wall in that cell");
  }

  marker(which: Marker): Cell {
    return this.moved[which] ?? (which === "start" ? this.walk.plan.start : this.walk.goalAt(this.at));
  }

  terrain(): Uint8Array {
    return terrainAt(this.walk.plan.map, this.walk.events, this.at);
  }

  // --- time ---

  get at(): number {
    return Math.floor(this.time);
  }

  get first(): number {
    return 0;
  }

  get last(): number {
    return this.walk.beat;
  }

  get over(): boolean {
    return this.walk.over && this.time >= this.walk.beat;
  }

  get moment(): Moment {
    const share = this.setting.speed <= SMOOTH ? this.time - this.at : 0;
    return { beat: this.at, share, thoughts: this.thoughts };
  }

  play(): void {
    if (this.over) return;
    this.playing = true;
    this.thoughts = 0;
    this.setting.changed();
  }

  pause(): void {
    if (this.playing) this.time = Math.min(this.walk.beat, Math.ceil(this.time));
    this.playing = this.rushing = false;
    this.dirty = true;
    this.setting.changed();
  }

  step(): void {
    this.pause();
    this.thoughts = 0;
    if (this.at >= this.walk.beat && !this.walk.over) this.walk.advance();
    this.time = Math.min(this.walk.beat, this.at + 1);
  }

  back(): void {
    this.pause();
    if (this.thoughts === 0) this.time = Math.max(0, this.at - 1);
    this.thoughts = 0;
  }

  /** Show one more thought of the next move; after the last one, make the move. */
  think(): void {
    this.pause();
    if (this.at >= this.walk.beat) {
      if (this.walk.over) return;
      this.walk.advance();
    }
    const most = Math.max(0, ...this.views.map((view) => view.nextThoughts(this.at)));
    if (this.thoughts < most) this.thoughts++;
    else this.step();
  }

  /** Run to the end, as fast as possible. */
  rush(): void {
    this.pause();
    this.rushing = true;
    this.thoughts = 0;
    this.setting.changed();
  }

  seek(beat: number): void {
    this.pause();
    this.thoughts = 0;
    this.time = Math.min(this.walk.beat, Math.max(0, beat));
  }

  frame(seconds: number): boolean {
    if (this.playing) this.playOn(seconds);
    if (this.rushing) this.rushOn();
    if (!this.dirty && !this.playing && !this.rushing) return false;
    this.dirty = false;
    this.paintGround();
    for (const tile of this.tiles) this.drawTile(tile);
    this.tellNumbers();
    return true;
  }

  private playOn(seconds: number): void {
    this.time += seconds * this.setting.speed;
    const until = performance.now() + THINKING;
    while (this.walk.beat < this.time && !this.walk.over && performance.now() < until) this.walk.advance();
    if (this.time >= this.walk.beat) {
      this.time = this.walk.beat;
      if (this.walk.over) this.pause();
    }
  }

  private rushOn(): void {
    const until = performance.now() + RUSHING;
    while (!this.walk.over && performance.now() < until) this.walk.advance();
    this.time = this.walk.beat;
    if (this.walk.over) this.pause();
    else this.setting.changed();
  }

  // --- drawing ---

  repaint(): void {
    arrange(this.root, this.tiles.length, this.walk.plan.map);
    this.eventsShown = "";
    for (const view of this.views) view.paint(this.setting.colours, this.setting.layers);
    this.dirty = true;
  }

  /** Show the walls of the beat that is shown. */
  private paintGround(): void {
    const events = this.walk.events.filter((event) => event.beat <= this.at + 1).length;
    const shown = `${events} of ${this.walk.events.length}`;
    if (shown === this.eventsShown) return;
    this.eventsShown = shown;
    this.ground.terrain.set(this.terrain());
    this.ground.paint(this.setting.colours);
    const free = this.ground.terrain.map((character) => (passable(character) ? 1 : 0));
    for (const view of this.views) view.mark(free, this.marker("goal"), this.setting.colours);
  }

  private drawTile({ board, views }: Tile): void {
    const { colours, layers } = this.setting;
    const { moment } = this;
    const shared = views.length > 1 || this.layout === "one";
    for (const view of views) view.show(moment);
    const thinking = shared ? views.slice(this.focus, this.focus + 1) : views;
    const context = board.begin(this.ground, ...thinking.flatMap((view) => view.bitmaps(layers)));
    if (layers.optimal) this.drawOptimal(context, board);
    const colour = (view: WalkerView): string => colours.units[this.views.indexOf(view)] ?? colours.path;
    for (const view of views) view.drawPath(context, board.frame, layers, colours, shared ? colour(view) : colours.path);
    const size = board.frame.dotSize(board.canvas);
    for (const which of ["start", "goal"] as const) {
      drawDots(context, [board.frame.place(this.marker(which))], size * 0.8, colours[which], colours.ring);
    }
    for (const view of views) view.drawAgent(context, board.frame, moment, colours, shared ? colour(view) : colours.agent);
    board.drawCursor(context, colours.goal);
  }

  private drawOptimal(context: CanvasRenderingContext2D, board: Board): void {
    const path = this.playing && this.walk.changed ? null : this.walk.optimal?.path;
    if (!path) return;
    const width = lineWidth(board.frame);
    drawLine(context, board.frame, path, { width, colour: this.setting.colours.optimal, opacity: 0.9, dash: [width * 0.1, width * 2] });
  }

  private tellNumbers(): void {
    for (const texts of this.texts) texts.show(this.moment);
  }

  /** Return the canvases of the stage as they are now. */
  canvases(): HTMLCanvasElement[] {
    return this.tiles.map((tile) => tile.board.canvas);
  }

  dispose(): void {
    this.walk.dispose();
    this.root.remove();
  }
}
