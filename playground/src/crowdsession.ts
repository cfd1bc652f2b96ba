/** A crowd on the stage: many units on one map, which share a budget of expansions in every tick. */

import { drawBars, drawDots, Ground, UnitPlaces, unitSize } from "./draw";
import type { Cell, Engine } from "./engine/types";
import { OUTCOMES } from "./engine/types";
import { type CrowdPlan, March, WALKING } from "./march";
import { RUSHING, type Session, type Setting, THINKING } from "./session";
import { bytes, h, written } from "./ui/dom";
import { Board, type Marker } from "./view/board";
import { passable, WALL } from "./world/map";

const BARS = 1200; // ticks that bars show
const BARS_EVERY = 200; // milliseconds
const SMOOTH = 40; // ticks per second, below which units glide
const ARRIVED = OUTCOMES.indexOf("arrived");
const RUSH_TICKS = 20_000;

export class CrowdSession implements Session {
  readonly root = h("div", { class: "stage-inner" });
  readonly beatName = "tick";
  private readonly march: March;
  private readonly ground: Ground;
  private readonly board: Board;
  private readonly places = new UnitPlaces();
  /** Of each tick: milliseconds, units that waited, expansions. */
  private readonly times: number[] = [];
  private readonly waits: number[] = [];
  private readonly spent: number[] = [];
  private time = 0; // in ticks; units are between those before and after it
  private dirty = true;
  private edits = -1; // the number of edits that the ground shows
  private readonly facts = ["tick", "walking", "arrived", "cut off", "expansions", "memory"].map((name) => h("dd", { "data-fact": name }));
  private readonly timeText = h("span");
  private readonly waitText = h("span");
  private readonly timeBars = h("canvas", { role: "img", "aria-label": "Milliseconds of each tick" });
  private readonly waitBars = h("canvas", { role: "img", "aria-label": "Units that had to wait, by tick" });
  private barsAgain = 0;
  playing = false;
  rushing = false;

  constructor(
    engine: Engine,
    private readonly setting: Setting,
    readonly plan: CrowdPlan,
  ) {
    const { map } = plan;
    this.ground = new Ground(map.width, map.height, map.terrain.slice());
    this.march = new March(engine, plan);
    this.board = this.build();
    this.repaint();
  }

  private build(): Board {
    const { setting } = this;
    const board = new Board(
      setting.camera,
      {
        tool: () => setting.tool,
        brush: () => setting.brush,
        marker: (which) => this.marker(which),
        draw: (cells, open) => this.draw(cells, open),
        put: (_, cell, done) => done && this.moveGoal(cell),
        changed: () => (this.dirty = true),
        announce: (text) => setting.announce(text),
      },
      `${this.plan.units} units of ${this.plan.notation}. Arrow keys move a cursor: w draws a wall, x erases, g sets the goal`,
    );
    const titles = ["Tick", "Walking", "Arrived", "Cut off", "Expansions", "Memory"];
    const facts = h("dl", { class: "numbers" }, ...this.facts.map((fact, k) => h("div", {}, h("dt", {}, titles[k]!), fact)));
    const bars = (title: string, text: HTMLElement, canvas: HTMLCanvasElement): HTMLElement =>
      h("div", { class: "bars" }, h("span", {}, title), text, canvas);
    const caption = h("figcaption", {}, h("strong", {}, this.march.notation), h("span", { class: "status" }, this.legend()));
    const numbers = h("div", { class: "crowd-numbers" }, facts, bars("Time of a tick", this.timeText, this.timeBars), bars("Units that wait", this.waitText, this.waitBars));
    this.root.append(h("figure", { class: "tile crowd" }, caption, board.canvas, numbers));
    return board;
  }

  private legend(): string {
    const colours = this.march.coloured.length > 0 ? "by goal" : "by the direction of their goal";
    return `${written(this.march.count)} units, coloured ${colours}; faint ones have arrived`;
  }

  // --- changes by hand: they follow the tick that is shown, and later ticks are discarded ---

  private draw(cells: readonly Cell[], open: boolean): void {
    this.changing(() => this.march.edit(cells, open, this.at));
  }

  private moveGoal(cell: Cell): void {
    if (passable(this.terrain()[cell] ?? WALL)) this.changing(() => this.march.moveGoal(cell, this.at));
    else this.setting.announce("there is a wall in that cell");
  }

  set budget(budget: number | null) {
    this.changing(() => this.march.spend(budget, this.at));
  }

  private changing(change: () => void): void {
    change();
    for (const kept of [this.times, this.waits, this.spent]) kept.length = this.march.ticks;
    this.time = Math.min(this.time, this.march.ticks);
    this.dirty = true;
  }

  marker(which: Marker): Cell | null {
    return which === "goal" ? this.march.goal : null;
  }

  terrain(): Uint8Array {
    return this.march.terrainAt(this.at);
  }

  // --- time ---

  get at(): number {
    return Math.ceil(this.time);
  }

  get first(): number {
    return this.march.first;
  }

  get last(): number {
    return this.march.ticks;
  }

  get over(): boolean {
    return this.march.over && this.at >= this.last;
  }

  play(): void {
    this.playing = true;
    this.setting.changed();
  }

  pause(): void {
    this.playing = this.rushing = false;
    this.time = this.at;
    this.dirty = true;
    this.setting.changed();
  }

  step(): void {
    this.pause();
    if (this.at >= this.last && !this.march.over) this.tick();
    this.time = Math.min(this.last, this.at + 1);
  }

  back(): void {
    this.pause();
    this.time = Math.max(this.first, this.at - 1);
  }

  think(): void {
    this.step();
  }

  seek(tick: number): void {
    this.pause();
    this.time = Math.min(this.last, Math.max(this.first, tick));
  }

  rush(): void {
    this.pause();
    this.rushing = true;
    this.setting.changed();
  }

  private tick(): void {
    const tick = this.march.tick();
    this.times.push(tick.milliseconds);
    this.waits.push(tick.waiting);
    this.spent.push(tick.expansions);
    this.dirty = true;
  }

  frame(seconds: number): boolean {
    if (this.playing) this.playOn(seconds);
    if (this.rushing) this.rushOn();
    if (!this.dirty && !this.playing && !this.rushing) return false;
    this.dirty = false;
    this.drawCrowd();
    this.tellNumbers();
    return true;
  }

  private playOn(seconds: number): void {
    this.time += seconds * this.setting.speed;
    const until = performance.now() + THINKING;
    while (this.last < this.time && !this.march.over && performance.now() < until) this.tick();
    this.time = Math.min(this.time, this.last);
    if (this.over) this.pause();
  }

  private rushOn(): void {
    const until = performance.now() + RUSHING;
    while (!this.march.over && this.last < RUSH_TICKS && performance.now() < until) this.tick();
    this.time = this.last;
    if (this.march.over || this.last >= RUSH_TICKS) this.pause();
    else this.setting.changed();
  }

  // --- drawing ---

  repaint(): void {
    this.edits = -1;
    this.dirty = true;
  }

  /** Show the walls of the tick that is shown. */
  private paintGround(): void {
    const edits = this.march.editsAt(this.at);
    if (edits === this.edits) return;
    if (this.edits < 0) this.ground.paint(this.setting.colours);
    this.edits = edits;
    this.terrain().forEach((character, cell) => {
      if (this.ground.terrain[cell] === character) return;
      this.ground.terrain[cell] = character;
      this.ground.change(cell, character);
    });
  }

  private drawCrowd(): void {
    const { board, setting, march, at } = this;
    const { colours } = setting;
    this.paintGround();
    const context = board.begin(this.ground);
    const [before, now] = [march.at(at - 1), march.at(at)];
    const share = setting.speed <= SMOOTH ? this.time - (at - 1) : 1;
    this.places.clear();
    for (let unit = 0; unit < march.count; unit++) {
      if (now.states[unit]! < 0) continue;
      const place = board.frame.placeBetween(before.states[unit]!, now.states[unit]!, share);
      this.places.put(now.groups[unit]!, now.outcomes[unit] !== WALKING, place);
    }
    const size = unitSize(board.frame, board.canvas, march.count);
    this.places.draw(context, size, colours);
    march.coloured.forEach((goal, k) => {
      drawDots(context, [board.frame.place(goal)], size * 1.8, colours.units[k] ?? colours.goal, colours.ring);
    });
    board.drawCursor(context, colours.goal);
  }

  private tellNumbers(): void {
    const { at } = this;
    let [walking, arrived, away] = [0, 0, 0];
    for (const outcome of this.march.at(at).outcomes) {
      if (outcome === WALKING) walking++;
      else if (outcome === ARRIVED) arrived++;
      else if (OUTCOMES[outcome] !== "none") away++;
    }
    const texts = [at, walking, arrived, away, this.spent[at - 1] ?? 0].map(written);
    [...texts, bytes(this.march.bytes)].forEach((text, k) => (this.facts[k]!.textContent = text));
    this.timeText.textContent = at < 1 ? "" : `${this.times[at - 1]!.toFixed(2)} ms`;
    this.waitText.textContent = at < 1 ? "" : written(this.waits[at - 1]!);
    if (performance.now() < this.barsAgain && this.playing) return; // sixty updates a second could not be read
    this.barsAgain = performance.now() + BARS_EVERY;
    const begin = Math.max(0, at - BARS);
    drawBars(this.timeBars, this.times.slice(begin, at), null, this.setting.colours);
    drawBars(this.waitBars, this.waits.slice(begin, at), null, this.setting.colours);
  }

  canvases(): HTMLCanvasElement[] {
    return [this.board.canvas];
  }

  dispose(): void {
    this.march.dispose();
    this.root.remove();
  }
}
