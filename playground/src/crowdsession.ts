/** A crowd on the stage: many units on one map, which share a budget of expansions in every tick. */

import { drawBars, drawBitmaps, drawDots, Ground, groupUnits, UnitPlaces, unitSize } from "./draw";
import type { Cell, Crowd, Engine, World } from "./engine/types";
import { OUTCOMES } from "./engine/types";
import { RUSHING, type Session, type Setting, THINKING } from "./session";
import { bytes, h, written } from "./ui/dom";
import { Board, type Marker } from "./view/board";
import { Chance } from "./world/chance";
import { regions } from "./world/generate";
import { type GridMap, GROUND, passable, WALL } from "./world/map";

export type Errand = "goal" | "streams" | "anywhere";

export interface CrowdPlan {
  readonly map: GridMap;
  readonly goal: Cell;
  readonly notation: string;
  readonly units: number;
  readonly errand: Errand;
  /** Whether units that have arrived are sent on. */
  readonly endless: boolean;
  readonly bodies: boolean;
  /** Expansions in a tick; null for as many as are wanted. */
  readonly budget: number | null;
}

const STREAMS = 6;
const KEPT = 1200; // ticks that bars show
const BARS_EVERY = 200; // milliseconds
const SMOOTH = 40; // ticks per second, below which units glide
const WALKING = OUTCOMES.indexOf("walking");
const ARRIVED = OUTCOMES.indexOf("arrived");
const RUSH_TICKS = 20_000;

export class CrowdSession implements Session {
  readonly root = h("div", { class: "stage-inner" });
  readonly beatName = "tick";
  private readonly world: World;
  private readonly crowd: Crowd;
  private readonly ground: Ground;
  private readonly board: Board;
  private readonly chance = new Chance(1);
  private readonly cells: Int32Array; // free cells that are connected with the goal
  private readonly targets: Cell[];
  private before: Int32Array;
  private now: Int32Array;
  private outcomes: Uint8Array;
  private goals: Int32Array;
  private groups: ReturnType<typeof groupUnits>;
  private readonly places = new UnitPlaces();
  private readonly times: number[] = [];
  private readonly waits: number[] = [];
  private ticks = 0;
  private share = 1; // of the last tick's moves that is shown
  private dirty = true;
  private readonly facts = ["tick", "walking", "arrived", "cut off", "expansions", "memory"].map((name) => h("dd", { "data-fact": name }));
  private readonly timeText = h("span");
  private readonly waitText = h("span");
  private readonly timeBars = h("canvas", { role: "img", "aria-label": "Milliseconds of each tick" });
  private readonly waitBars = h("canvas", { role: "img", "aria-label": "Units that had to wait, by tick" });
  private lastExpansions = 0;
  private barsAgain = 0;
  budget: number | null;
  playing = false;
  rushing = false;

  constructor(
    engine: Engine,
    private readonly setting: Setting,
    readonly plan: CrowdPlan,
  ) {
    const { map, notation, units, bodies } = plan;
    this.budget = plan.budget;
    this.ground = new Ground(map.width, map.height, map.terrain.slice());
    this.cells = connected(map, plan.goal);
    this.targets = plan.errand === "goal" ? [plan.goal] : spread(this.cells, map.width, STREAMS);
    this.world = engine.world({
      width: map.width,
      height: map.height,
      passable: map.terrain.map((character) => (passable(character) ? 1 : 0)),
    });
    try {
      this.crowd = engine.crowd(this.world, notation, { units, bodies });
      this.populate();
    } catch (error) {
      this.world.dispose();
      throw error;
    }
    this.before = this.crowd.states();
    this.now = this.crowd.states();
    this.outcomes = this.crowd.outcomes();
    this.goals = this.crowd.goals();
    this.groups = this.grouped();
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
        tell: (text) => setting.tell(text),
      },
      `${this.plan.units} units of ${this.plan.notation}. Arrow keys move a cursor: w draws a wall, x erases, g sets the goal`,
    );
    const titles = ["Tick", "Walking", "Arrived", "Cut off", "Expansions", "Memory"];
    const facts = h("dl", { class: "numbers" }, ...this.facts.map((fact, k) => h("div", {}, h("dt", {}, titles[k]!), fact)));
    const bars = (title: string, text: HTMLElement, canvas: HTMLCanvasElement): HTMLElement =>
      h("div", { class: "bars" }, h("span", {}, title), text, canvas);
    const caption = h("figcaption", {}, h("strong", {}, this.crowd.notation), h("span", { class: "status" }, this.legend()));
    const numbers = h("div", { class: "crowd-numbers" }, facts, bars("Time of a tick", this.timeText, this.timeBars), bars("Units that wait", this.waitText, this.waitBars));
    this.root.append(h("figure", { class: "tile crowd" }, caption, board.canvas, numbers));
    return board;
  }

  private legend(): string {
    const colours = this.groups.goals.length > 0 ? "by goal" : "by the direction of their goal";
    return `${written(this.crowd.count)} units, coloured ${colours}; faint ones have arrived`;
  }

  /** Add the units: each on a cell of its own, as far as there are enough. */
  private populate(): void {
    const { units, bodies } = this.plan;
    const order = shuffled(this.cells, this.chance);
    const most = bodies ? Math.min(units, Math.floor(order.length / 2)) : units;
    for (let k = 0; k < most; k++) this.crowd.add(order[k % order.length]!, this.errand(k));
  }

  /** Units by where they go: each target has a colour or, if everybody has a goal of its own, each direction. */
  private grouped(): ReturnType<typeof groupUnits> {
    const { map, errand } = this.plan;
    if (errand === "anywhere") return groupUnits(this.goals, map.width, map.height);
    return { names: [], of: Uint8Array.from(this.goals, (goal) => Math.max(0, this.targets.indexOf(goal))), goals: this.targets };
  }

  private errand(unit: number): Cell {
    if (this.plan.errand === "anywhere") return this.cells[this.chance.below(this.cells.length)]!;
    return this.targets[unit % this.targets.length]!;
  }

  // --- what is changed by hand ---

  private draw(cells: readonly Cell[], open: boolean): void {
    const taken = new Set<Cell>(this.now);
    const { passable: free } = this.world;
    const changed = cells.filter((cell) => free[cell] !== (open ? 1 : 0) && (open || (!taken.has(cell) && !this.targets.includes(cell))));
    this.world.edit(changed, open);
    for (const cell of changed) {
      this.ground.terrain[cell] = open ? GROUND : WALL;
      this.ground.change(cell, open ? GROUND : WALL);
    }
    if (changed.length > 0) this.resend();
    this.dirty = true;
  }

  /** Who found no path looks again. */
  private resend(): void {
    for (let unit = 0; unit < this.crowd.count; unit++) {
      const outcome = this.outcomes[unit]!;
      if (outcome !== WALKING && outcome !== ARRIVED && OUTCOMES[outcome] !== "none") this.crowd.send(unit, this.goals[unit]!);
    }
  }

  private moveGoal(cell: Cell): void {
    if (!passable(this.ground.terrain[cell] ?? WALL)) {
      this.setting.tell("a wall is there");
      return;
    }
    if (this.plan.errand !== "goal") return;
    this.targets[0] = cell;
    for (let unit = 0; unit < this.crowd.count; unit++) this.crowd.send(unit, cell);
    this.look();
  }

  marker(which: Marker): Cell | null {
    return which === "goal" && this.plan.errand === "goal" ? this.targets[0]! : null;
  }

  terrain(): Uint8Array {
    return this.ground.terrain.slice();
  }

  // --- time ---

  get at(): number {
    return this.ticks;
  }

  get last(): number {
    return this.ticks;
  }

  get over(): boolean {
    return !this.plan.endless && !this.outcomes.includes(WALKING);
  }

  play(): void {
    this.playing = true;
    this.setting.changed();
  }

  pause(): void {
    this.playing = this.rushing = false;
    this.share = 1;
    this.dirty = true;
    this.setting.changed();
  }

  step(): void {
    this.pause();
    this.tick();
  }

  back(): void {
    this.setting.tell("a crowd only goes on: its units share one memory");
  }

  think(): void {
    this.step();
  }

  seek(): void {
    this.back();
  }

  rush(): void {
    this.pause();
    this.rushing = true;
    this.setting.changed();
  }

  private tick(): void {
    [this.before, this.now] = [this.now, this.before];
    const tick = this.crowd.tick(this.budget === null ? {} : { expansions: this.budget });
    this.ticks++;
    keep(this.times, tick.milliseconds);
    keep(this.waits, tick.waiting);
    this.lastExpansions = tick.expansions;
    this.look();
    if (this.plan.endless && tick.arrived > 0) this.sendOn();
  }

  private look(): void {
    this.now = this.crowd.states(this.now);
    this.outcomes = this.crowd.outcomes(this.outcomes);
    this.goals = this.crowd.goals(this.goals);
    this.groups = this.grouped();
    this.dirty = true;
  }

  /** Send everybody on who has arrived. */
  private sendOn(): void {
    for (let unit = 0; unit < this.crowd.count; unit++) {
      if (this.outcomes[unit] !== ARRIVED) continue;
      const next = this.plan.errand === "streams" ? this.nextTarget(unit) : this.elsewhere(unit);
      if (next !== this.now[unit]) this.crowd.send(unit, next);
    }
    this.look();
  }

  private nextTarget(unit: number): Cell {
    return this.targets[(this.targets.indexOf(this.goals[unit]!) + 1) % this.targets.length]!;
  }

  /** Somewhere else; who has one goal comes back to it. */
  private elsewhere(unit: number): Cell {
    const there = this.targets[0]!;
    if (this.plan.errand === "goal" && this.now[unit] !== there) return there;
    return this.cells[this.chance.below(this.cells.length)]!;
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
    this.share += seconds * this.setting.speed;
    const until = performance.now() + THINKING;
    while (this.share >= 1 && performance.now() < until) {
      if (this.over) {
        this.pause();
        return;
      }
      this.tick();
      this.share -= 1;
    }
    this.share = Math.min(this.share, 1);
  }

  private rushOn(): void {
    const until = performance.now() + RUSHING;
    while (!this.over && this.ticks < RUSH_TICKS && performance.now() < until) this.tick();
    this.share = 1;
    if (this.over || this.ticks >= RUSH_TICKS) this.pause();
    else this.setting.changed();
  }

  // --- drawing ---

  repaint(): void {
    this.ground.paint(this.setting.colours);
    this.dirty = true;
  }

  private drawCrowd(): void {
    const { board, setting, groups } = this;
    const { colours } = setting;
    const context = board.begin();
    drawBitmaps(context, board.frame, this.ground);
    const share = setting.speed <= SMOOTH ? this.share : 1;
    this.places.clear();
    for (let unit = 0; unit < this.crowd.count; unit++) {
      if (this.now[unit]! < 0) continue;
      const place = board.frame.placeBetween(this.before[unit]!, this.now[unit]!, share);
      this.places.put(groups.of[unit] ?? 0, this.outcomes[unit] !== WALKING, place);
    }
    const size = unitSize(board.frame, board.canvas, this.crowd.count);
    this.places.draw(context, size, colours);
    groups.goals.forEach((goal, k) => {
      drawDots(context, [board.frame.place(goal)], size * 1.8, colours.units[k] ?? colours.goal, colours.ring);
    });
    board.drawCursor(context, colours.goal);
  }

  private tellNumbers(): void {
    let [walking, arrived, away] = [0, 0, 0];
    for (const outcome of this.outcomes) {
      if (outcome === WALKING) walking++;
      else if (outcome === ARRIVED) arrived++;
      else if (OUTCOMES[outcome] !== "none") away++;
    }
    const texts = [this.ticks, walking, arrived, away, this.lastExpansions].map(written);
    [...texts, bytes(this.crowd.bytes)].forEach((text, k) => (this.facts[k]!.textContent = text));
    const last = this.times.length - 1;
    this.timeText.textContent = last < 0 ? "" : `${this.times[last]!.toFixed(2)} ms`;
    this.waitText.textContent = last < 0 ? "" : written(this.waits[last]!);
    if (performance.now() < this.barsAgain && this.playing) return; // nobody reads bars sixty times a second
    this.barsAgain = performance.now() + BARS_EVERY;
    drawBars(this.timeBars, this.times, null, this.setting.colours);
    drawBars(this.waitBars, this.waits, null, this.setting.colours);
  }

  canvases(): HTMLCanvasElement[] {
    return [this.board.canvas];
  }

  dispose(): void {
    this.crowd.dispose();
    this.world.dispose();
    this.root.remove();
  }
}

function keep(values: number[], value: number): void {
  values.push(value);
  if (values.length > KEPT) values.splice(0, values.length - KEPT);
}

/** The free cells from which the goal can be reached. */
function connected({ terrain, width, height }: GridMap, goal: Cell): Int32Array {
  const { label } = regions(terrain.map((character) => (passable(character) ? 1 : 0)), width, height);
  const cells: number[] = [];
  for (let cell = 0; cell < label.length; cell++) if (label[cell] === label[goal] && label[cell]! >= 0) cells.push(cell);
  return Int32Array.from(cells);
}

/** Cells that are far from each other: each the farthest from those before it, in a straight line. */
function spread(cells: Int32Array, width: number, count: number): Cell[] {
  const chosen = [cells[0]!];
  const stride = Math.max(1, Math.floor(cells.length / 20_000));
  while (chosen.length < count && chosen.length < cells.length) {
    let [best, most] = [cells[0]!, -1];
    for (let k = 0; k < cells.length; k += stride) {
      const cell = cells[k]!;
      const away = Math.min(...chosen.map((other) => ((cell % width) - (other % width)) ** 2 + (Math.floor(cell / width) - Math.floor(other / width)) ** 2));
      if (away > most) [best, most] = [cell, away];
    }
    chosen.push(best);
  }
  return chosen;
}

function shuffled(cells: Int32Array, chance: Chance): Int32Array {
  const order = cells.slice();
  for (let k = order.length - 1; k > 0; k--) {
    const other = chance.below(k + 1);
    [order[k], order[other]] = [order[other]!, order[k]!];
  }
  return order;
}
