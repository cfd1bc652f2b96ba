/*
 * Replays of Andante traces: thoughts and paths of agents, side by side, with one clock.
 *
 * A trace is the JSON that Trace.to_json writes (src/andante/episode/tracefile.py describes it).
 * mountTraces(element, documents) builds the player inside an element.
 *
 * The clock counts moves: each move takes 1, as does each turn that the agent waits. Before a move the agent thinks, and
 * can expand PACE states in the time of one move. In traces of scenes, cells close and open and the goal moves.
 */

import { drawDots, drawLine, Fog, lineWidth, Mind, LoopFreePath } from "./draw.js";
import { element, fact, MapView, opened, Player, readColumn, written } from "./player.js";

const VERSION = 2; // of the newest traces that can be read
const PACE = 1000; // states that can be expanded in the time of one move
const EXPANDED = 0;
const FLASH = 800; // expansions that are highlighted as the latest
const TAIL = 160; // moves that are highlighted as the latest
const NARROW = 720; // pixels, below which one agent is shown at first

const ENDINGS = {
  GOAL: "arrived",
  STUCK: "stuck",
  UNREACHABLE: "no path to the goal",
  COST_CAP: "stopped at the limit on cost",
  MOVE_CAP: "stopped at the limit on moves",
  EXPANSION_CAP: "stopped at the limit on expansions",
};

// --- reading traces -------------------------------------------------------------------------------------------------

async function readTable(columns) {
  const names = Object.keys(columns);
  const arrays = await Promise.all(names.map((name) => readColumn(columns[name])));
  return Object.fromEntries(names.map((name, k) => [name, arrays[k]]));
}

/** Return a trace with its columns as typed arrays. In version 1 map and goal do not change, and every turn is a move. */
export async function readTrace(document) {
  const { format, version } = document;
  if (format !== "andante-trace" || !(version >= 1)) throw new Error("this is not a trace of Andante");
  if (version > VERSION) throw new Error(`this is a trace of version ${version}, and this page reads versions 1 to ${VERSION}`);
  const none = { tick: [], state: [], look: [] };
  const [terrain, moves, thoughts, changes, goals] = await Promise.all([
    readColumn(document.terrain),
    readTable(document.moves),
    readTable(document.thoughts),
    version > 1 ? readTable(document.changes) : none,
    version > 1 ? readTable(document.goals) : none,
  ]);
  moves.tick ??= Int32Array.from(moves.state, (_, k) => k + 1);
  return { ...document, terrain, moves, thoughts, changes, goals };
}

// --- an episode: the state at a given time --------------------------------------------------------------------------

export class Episode {
  constructor(trace) {
    this.trace = trace;
    this.count = trace.moves.state.length;
    this.begins = new Float64Array(this.count + 1); // when the agent begins to think about each move, and after the last
    this.ends = new Float64Array(this.count); // when each move is done
    this.walked = new Float64Array(this.count + 1); // cost after each number of moves
    this.total = new Float64Array(this.count + 1); // states expanded for each number of moves
    this.firstThought = new Int32Array(this.count + 2); // before each move, and after the last
    let clock = 0;
    for (let k = 0; k < this.count; k++) {
      this.begins[k] = clock + trace.moves.tick[k] - this.tick(k) - 1;
      clock = this.begins[k] + trace.moves.expanded[k] / PACE + 1;
      this.ends[k] = clock;
      this.walked[k + 1] = this.walked[k] + trace.moves.cost[k];
      this.total[k + 1] = this.total[k] + trace.moves.expanded[k];
      this.firstThought[k + 1] = this.firstThought[k] + trace.moves.thoughts[k];
    }
    this.firstThought[this.count + 1] = trace.thoughts.state.length;
    this.changeTimes = Float64Array.from(trace.changes.tick, (tick) => this.timeOf(tick));
    this.goalTimes = Float64Array.from(trace.goals.tick, (tick) => this.timeOf(tick));
    this.begins[this.count] = Math.max(clock, ...this.changeTimes.slice(-1), ...this.goalTimes.slice(-1));
    this.duration = this.begins[this.count] + this.thinking(this.count);
    this.measureRises();
  }

  /** Return the turn of the move with this number, from 1; 0 before the first move. */
  tick(moves) {
    return moves ? this.trace.moves.tick[moves - 1] : 0;
  }

  /** Return the time just before a turn: after the moves before it, and after the turns waited. */
  timeOf(tick) {
    const moves = countUpTo(this.trace.moves.tick, tick - 1);
    return (moves ? this.ends[moves - 1] : 0) + tick - this.tick(moves) - 1;
  }

  /** Return the place of the goal after this number of its moves. */
  goal(moves) {
    return moves ? this.trace.goals.state[moves - 1] : this.trace.goal;
  }

  /** Return how long the agent thinks before a move, or after the last move without making another. */
  thinking(move) {
    if (move < this.count) return this.trace.moves.expanded[move] / PACE;
    return (this.firstThought[this.count + 1] - this.firstThought[this.count]) / PACE;
  }

  /** Return how far each learned value is above the straight-line distance to the goal at the next move. */
  measureRises() {
    const { thoughts, goals, moves, width, diagonal, straight = 1, sixteen } = this.trace;
    this.rise = new Float32Array(thoughts.state.length);
    this.mostRise = 0;
    for (let k = 0; k <= this.count; k++) {
      const goal = this.goal(k < this.count ? countUpTo(goals.tick, moves.tick[k]) : goals.tick.length);
      const goalX = goal % width;
      const goalY = Math.floor(goal / width);
      for (let i = this.firstThought[k]; i < this.firstThought[k + 1]; i++) {
        if (thoughts.kind[i] === EXPANDED) continue;
        const dx = Math.abs((thoughts.state[i] % width) - goalX);
        const dy = Math.abs(Math.floor(thoughts.state[i] / width) - goalY);
        const far = Math.max(dx, dy);
        const near = Math.min(dx, dy);
        const leaps = sixteen ? Math.min(near, far - near) : 0;
        const rest = (far - near - leaps) * straight + (near - leaps) * diagonal;
        this.rise[i] = thoughts.value[i] - leaps * Math.sqrt(5) - rest;
        if (this.rise[i] < Infinity && this.rise[i] > this.mostRise) this.mostRise = this.rise[i];
      }
    }
  }

  /** Return the numbers of moves, thoughts and changes so far, and the progress of the current thinking and move. */
  at(time) {
    const moves = countUpTo(this.ends, time);
    const since = time - this.begins[moves];
    const thinking = this.thinking(moves);
    const share = since < 0 ? 0 : thinking > 0 ? Math.min(1, since / thinking) : 1;
    const first = this.firstThought[moves];
    const thoughts = first + Math.floor(share * (this.firstThought[moves + 1] - first));
    const step = moves < this.count ? Math.min(1, Math.max(0, since - thinking)) : 0;
    const [changes, goals] = [countUpTo(this.changeTimes, time), countUpTo(this.goalTimes, time)];
    return { moves, thoughts, share, step, changes, goals, waits: since < 0, over: time >= this.duration };
  }

  place(moves) {
    return moves ? this.trace.moves.state[moves - 1] : this.trace.start;
  }
}

/** Return how many of the ascending numbers are at most the given one. */
function countUpTo(numbers, limit) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

// --- a view: one episode on one canvas ------------------------------------------------------------------------------

class View extends MapView {
  constructor(episode) {
    super(episode.trace);
    this.episode = episode;
    const { trace } = episode;
    this.moves = element("dd");
    this.cost = element("dd");
    this.effort = element("dd");
    this.root.append(
      element("figcaption", {}, element("strong", {}, trace.algorithm), element("span", {}, trace.title), this.status),
      this.canvas,
      element("dl", {}, fact("Moves", this.moves), fact("Times optimal", this.cost), fact("Expanded", this.effort)),
    );
    if (trace.thoughts_cut) {
      const kept = written(trace.thoughts.state.length);
      this.root.append(element("p", { class: "replay-note" }, `Only its first ${kept} thoughts were kept.`));
    }
    this.mind = new Mind(trace.width, trace.height);
    this.fog = trace.sight ? new Fog(trace.width, trace.height) : null; // over cells that it has not seen yet
    this.loopFree = new LoopFreePath();
  }

  get duration() {
    return this.episode.duration;
  }

  paint(colours, layers) {
    this.changesShown = 0;
    super.paint(colours);
    this.layers = layers;
    this.mind.paint(colours, layers);
    this.forget();
  }

  /** Go back to before the first thought. */
  forget() {
    this.thoughtsShown = 0;
    this.movesShown = 0;
    this.mind.forget();
    this.mind.scale = this.episode.mostRise; // colours are of the whole trace
    this.loopFree.forget();
    this.fog?.cover(this.colours);
    this.extend(this.episode.trace.start);
  }

  show(time) {
    const now = this.episode.at(time);
    if (now.thoughts < this.thoughtsShown || now.moves < this.movesShown) this.forget();
    this.change(now.changes);
    this.think(now);
    for (let k = this.movesShown + 1; k <= now.moves; k++) this.extend(this.episode.place(k));
    this.movesShown = now.moves;
    this.compose(now);
    this.describe(now);
  }

  /** Show the first changes of cells, up to this number, and no others. */
  change(count) {
    const { state, look } = this.episode.trace.changes;
    if (count < this.changesShown) {
      this.ground.paint(this.colours);
      this.changesShown = 0;
    }
    for (; this.changesShown < count; this.changesShown++) this.ground.change(state[this.changesShown], look[this.changesShown]);
  }

  /** Return the time when the agent has made one move more than at this time, or one fewer. */
  stepFrom(time, by) {
    const { ends, count } = this.episode;
    const moves = Math.max(0, this.episode.at(time).moves + by);
    return moves ? ends[Math.min(moves, count) - 1] : 0;
  }

  /** Show the thoughts up to now. */
  think(now) {
    const { kind, state } = this.episode.trace.thoughts;
    for (let i = this.thoughtsShown; i < now.thoughts; i++) {
      if (kind[i] === EXPANDED) this.mind.expand(state[i]);
      else this.mind.learn(state[i], this.episode.rise[i]);
    }
    this.thoughtsShown = now.thoughts;
    const latest = [];
    const first = now.over ? now.thoughts : Math.max(this.episode.firstThought[now.moves], now.thoughts - FLASH);
    for (let i = first; i < now.thoughts; i++) if (kind[i] === EXPANDED) latest.push(state[i]);
    this.mind.flash(latest, 0, latest.length);
  }

  extend(cell) {
    this.fog?.look(cell, this.episode.trace.sight);
    this.loopFree.extend(cell);
  }

  compose(now) {
    const { frame, colours } = this;
    const context = this.begin(...(this.fog ? [this.fog] : []), this.mind);
    if (this.layers.path) this.drawPath(context, now);
    const size = frame.dotSize(this.canvas);
    drawDots(context, [frame.place(this.trace.start)], size * 0.75, colours.start, colours.ring);
    drawDots(context, [frame.place(this.episode.goal(now.goals))], size * 0.75, colours.goal, colours.ring);
    drawDots(context, [this.agentPlace(now)], size, colours.agent, colours.ring);
  }

  /** Draw the latest moves as a thin line, and the path without its loops as a thick one. */
  drawPath(context, now) {
    const thick = lineWidth(this.frame);
    const colour = this.colours.path;
    const tail = now.over ? 0 : Math.min(TAIL, now.moves);
    const latest = Array.from({ length: tail + 1 }, (_, k) => this.episode.place(now.moves - tail + k));
    drawLine(context, this.frame, latest, { width: thick / 2, colour, opacity: 0.6 });
    drawLine(context, this.frame, this.loopFree.cells, { width: thick, colour });
  }

  agentPlace({ moves, step }) {
    const next = moves < this.episode.count ? moves + 1 : moves;
    return this.frame.placeBetween(this.episode.place(moves), this.episode.place(next), step);
  }

  describe(now) {
    const { episode } = this;
    const { optimal_cost: optimal, outcome } = episode.trace;
    const walked = episode.walked[now.moves];
    this.status.textContent = now.over ? ENDINGS[outcome] || outcome.toLowerCase() : now.waits ? "waiting" : now.share < 1 ? "thinking" : "walking";
    this.status.dataset.state = now.over ? (outcome === "GOAL" ? "arrived" : "failed") : "walking";
    this.moves.textContent = `${written(now.moves)} of ${written(episode.count)}`;
    this.cost.textContent = optimal ? (walked / optimal).toFixed(2) : "-";
    const next = now.moves < episode.count ? episode.trace.moves.expanded[now.moves] : 0;
    this.effort.textContent = written(episode.total[now.moves] + Math.floor(next * now.share));
  }
}

// --- agents side by side --------------------------------------------------------------------------------------------

class AgentsPlayer extends Player {
  constructor(root, traces) {
    super(root, traces.map((trace) => new View(new Episode(trace))), "move");
    this.layers = { expanded: true, learned: true, path: true, whole: false };
    const narrow = window.innerWidth < NARROW;
    const chips = this.views.map((view, k) => {
      view.root.hidden = narrow && k > 0;
      const chip = element("button", { type: "button", class: "replay-chip", "aria-pressed": String(!view.root.hidden) });
      chip.textContent = view.trace.algorithm;
      chip.addEventListener("click", () => this.toggleView(view, chip));
      return chip;
    });
    const clock =
      `All agents share one clock: a move takes one beat, and in the time of a beat an agent can expand ` +
      `${written(PACE)} states. Agents that plan far ahead stand still while they think.`;
    const layers = { expanded: "expanded", learned: "learned", path: "path", whole: "whole map" };
    const boxes = Object.entries(layers).map(([name, label]) => this.checkbox(name, label));
    this.open(
      [
        element("p", { class: "replay-note" }, clock),
        element("div", { class: "replay-chips", role: "group", "aria-label": "Agents shown" }, ...chips),
        element("div", { class: "replay-views" }, ...this.views.map((view) => view.root)),
      ],
      [element("div", { class: "replay-layers" }, ...boxes, legend(this.views.some((view) => view.trace.sight)))],
    );
  }

  checkbox(name, label) {
    const box = element("input", { type: "checkbox" });
    box.checked = this.layers[name];
    box.addEventListener("change", () => {
      this.layers[name] = box.checked;
      this.layout();
    });
    return element("label", {}, box, ` ${label}`);
  }

  toggleView(view, chip) {
    const shown = this.views.filter((other) => !other.root.hidden);
    if (shown.length === 1 && shown[0] === view) return; // at least one is always shown
    view.root.hidden = !view.root.hidden;
    chip.setAttribute("aria-pressed", String(!view.root.hidden));
    this.layout();
  }

  layout() {
    const crop = this.layers.whole ? null : sharedCrop(this.views.map((view) => view.episode.trace));
    this.root.dataset.shown = String(this.shown().length);
    for (const view of this.shown()) {
      view.paint(this.colours, this.layers);
      view.fit(crop || view.whole);
    }
    this.show();
  }
}

/** Return the part of the map that contains all walks, with a margin; null if the traces are of different maps. */
function sharedCrop(traces) {
  const { width, height, map } = traces[0];
  if (traces.some((trace) => trace.width !== width || trace.height !== height || trace.map !== map)) return null;
  let [left, right, top, bottom] = [width, 0, height, 0];
  for (const trace of traces) {
    for (const states of [[trace.start, trace.goal], trace.goals.state, trace.moves.state]) {
      for (const state of states) {
        const x = state % width;
        const y = (state - x) / width;
        left = Math.min(left, x);
        right = Math.max(right, x);
        top = Math.min(top, y);
        bottom = Math.max(bottom, y);
      }
    }
  }
  const margin = Math.max(6, Math.round(0.06 * Math.max(right - left, bottom - top)));
  const span = (low, high, size, least) => {
    const wanted = Math.min(size, Math.max(high - low + 1 + 2 * margin, least));
    const from = Math.round(Math.min(size - wanted, Math.max(0, (low + high + 1 - wanted) / 2)));
    return [from, wanted];
  };
  const longer = Math.max(right - left, bottom - top) + 2 * margin;
  const [x, cropWidth] = span(left, right, width, Math.round(longer * 0.75));
  const [y, cropHeight] = span(top, bottom, height, Math.round(longer * 0.6));
  return { x, y, width: cropWidth, height: cropHeight };
}

function legend(discovers) {
  const entries = [
    ...(discovers ? [["unseen", "not seen yet"]] : []),
    ["flash", "expanded now"],
    ["expanded", "expanded before"],
    ["heat", "learned, from little to much"],
    ["start", "start"],
    ["goal", "goal"],
    ["agent", "agent"],
  ];
  const items = entries.map(([name, text]) => element("span", { class: `replay-key replay-key-${name}` }, text));
  return element("div", { class: "replay-legend" }, ...items);
}

/** Build a player for these traces, given as JSON documents, inside an element. */
export function mountTraces(root, documents) {
  return opened(root, async () => new AgentsPlayer(root, await Promise.all(documents.map(readTrace))));
}
