/*
 * Replays of crowds: all units of a crowd on one map, tick by tick, with the times of ticks.
 *
 * A crowd is the JSON that CrowdTrace.to_json writes (src/andante/episode/crowdtrace.py describes it).
 * mountCrowd(element, document) builds the player inside an element.
 */

import { drawBars, drawDots, drawRing, groupUnits, UnitPlaces, unitSize } from "./draw.js";
import { element, fact, MapView, opened, Player, readColumn, written } from "./player.js";

const COLUMNS = [
  "terrain", "starts", "goals", "steps", "arrivals", "microseconds", "waiting", "change_ticks", "change_cells",
  "goal_units", "goal_ticks", "goal_states",
];
const DOTS = "Dots are units, coloured by their goals; faint ones have arrived.";

// --- reading --------------------------------------------------------------------------------------------------------

/** A crowd with its columns as typed arrays. */
export async function readCrowd(document) {
  if (document.format !== "andante-crowd" || document.version !== 3) throw new Error("this is not a crowd of version 3");
  const arrays = await Promise.all(COLUMNS.map((name) => readColumn(document[name])));
  return { ...document, ...Object.fromEntries(COLUMNS.map((name, k) => [name, arrays[k]])) };
}

/** The places of all units after each tick, and the tick in which each unit arrives (Infinity if it does not). */
export class Walks {
  constructor({ width, starts, steps, arrivals, waiting }) {
    this.units = starts.length;
    this.ticks = waiting.length;
    this.places = new Int32Array((this.ticks + 1) * this.units);
    this.arrivals = Float64Array.from(arrivals, (tick) => (tick < 0 ? Infinity : tick));
    for (let unit = 0; unit < this.units; unit++) {
      let place = starts[unit];
      for (let tick = 0; tick <= this.ticks; tick++) {
        if (tick) {
          const step = steps[unit * this.ticks + tick - 1];
          place += (Math.floor(step / 3) - 1) * width + (step % 3) - 1;
        }
        this.places[tick * this.units + unit] = place;
      }
    }
    this.order = Float64Array.from(this.arrivals).sort();
  }

  place(unit, tick) {
    return this.places[Math.min(tick, this.ticks) * this.units + unit];
  }

  arrived(tick) {
    let count = 0;
    while (count < this.units && this.order[count] <= tick) count++;
    return count;
  }
}

/** The places of goals that move, with the tick from which each place holds. */
class Goals {
  constructor({ goals, goal_units: units, goal_ticks: ticks, goal_states: states }) {
    this.trails = new Map();
    units.forEach((unit, k) => {
      if (!this.trails.has(unit)) this.trails.set(unit, { ticks: [0], states: [goals[unit]] });
      this.trails.get(unit).ticks.push(ticks[k]);
      this.trails.get(unit).states.push(states[k]);
    });
  }

  /** The units whose goals move, each with the place of its goal in the tick after this one. */
  at(tick) {
    return Array.from(this.trails, ([unit, { ticks, states }]) => {
      let low = 0;
      let high = ticks.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (ticks[middle] <= tick + 1) low = middle;
        else high = middle - 1;
      }
      return [unit, states[low]];
    });
  }
}

// --- bars -----------------------------------------------------------------------------------------------------------

/** One number for each tick, as bars, with the position of the replay. */
class Bars {
  constructor(title, values, limit, write, seek) {
    Object.assign(this, { values, limit, write });
    this.canvas = element("canvas", { role: "img", "aria-label": `${title}, by tick` });
    this.canvas.addEventListener("click", (event) => seek((event.offsetX / this.canvas.clientWidth) * values.length));
    this.text = element("span");
    this.picture = element("canvas");
    this.root = element("div", { class: "crowd-bars" }, title, this.text, this.canvas);
  }

  paint(colours) {
    this.colours = colours;
    drawBars(this.canvas, this.values, this.limit, colours);
    Object.assign(this.picture, { width: this.canvas.width, height: this.canvas.height });
    this.picture.getContext("2d").drawImage(this.canvas, 0, 0);
  }

  show(tick) {
    const context = this.canvas.getContext("2d");
    const { width, height } = this.canvas;
    context.clearRect(0, 0, width, height);
    context.drawImage(this.picture, 0, 0);
    context.fillStyle = this.colours.ink;
    context.fillRect(Math.min(width - 2, (tick / Math.max(1, this.values.length)) * width), 0, 2, height);
    this.text.textContent = tick ? this.write(this.values[tick - 1]) : "";
  }
}

// --- the view -------------------------------------------------------------------------------------------------------

class CrowdView extends MapView {
  constructor(trace, seek) {
    super(trace);
    this.walks = new Walks(trace);
    this.goals = new Goals(trace);
    this.groups = groupUnits(trace.goals, trace.width, trace.height);
    this.units = new UnitPlaces();
    this.duration = this.walks.ticks;
    this.tick = element("dd");
    this.arrived = element("dd");
    const inTime = (value) => `${written(Math.round(value))} µs`;
    const limit = trace.budget ? `Time of the tick, of ${inTime(trace.budget)}` : "Time of the tick";
    this.bars = [
      new Bars(limit, trace.microseconds, trace.budget, inTime, seek),
      new Bars("Units that have to wait", trace.waiting, null, written, seek),
    ];
    this.root.classList.add("crowd-view");
    this.root.append(
      element("figcaption", {}, element("strong", {}, trace.algorithm), element("span", {}, trace.title), this.status),
      this.canvas,
      element(
        "div",
        {},
        element("dl", {}, fact("Tick", this.tick), fact("Arrived", this.arrived)),
        ...this.bars.map((bars) => bars.root),
      ),
    );
  }

  paint(colours) {
    super.paint(colours);
    this.changed = { tick: -1, count: 0 };
    for (const bars of this.bars) bars.paint(colours);
  }

  stepFrom(time, by) {
    return (by > 0 ? Math.floor(time) : Math.ceil(time)) + by;
  }

  show(time) {
    const tick = Math.floor(time);
    this.draw(tick, time - tick);
    for (const bars of this.bars) bars.show(tick);
    const { ticks, units } = this.walks;
    const arrived = this.walks.arrived(tick);
    this.tick.textContent = `${written(tick)} of ${written(ticks)}`;
    this.arrived.textContent = `${written(arrived)} of ${written(units)}`;
    const over = tick >= ticks;
    this.status.textContent = !over ? "walking" : arrived === units ? "all arrived" : "the recording ends here";
    this.status.dataset.state = over && arrived === units ? "arrived" : "walking";
  }

  /** Close and open the cells of the map that have changed by the end of a tick. */
  changeUntil(tick) {
    if (tick < this.changed.tick) this.ground.paint(this.colours);
    let count = tick < this.changed.tick ? 0 : this.changed.count;
    const { change_ticks: ticks, change_cells: cells } = this.trace;
    for (; count < ticks.length && ticks[count] <= tick + 1; count++) {
      const closed = cells[count] < 0;
      this.ground.change(closed ? ~cells[count] : cells[count], (closed ? "@" : ".").charCodeAt(0));
    }
    this.changed = { tick, count };
  }

  /** Draw the units, then the goals that all share or that move. */
  draw(tick, share) {
    const { frame, colours, groups, walks } = this;
    this.changeUntil(tick);
    const context = this.begin();
    const size = unitSize(frame, this.canvas, walks.units);
    this.units.clear();
    for (let unit = 0; unit < walks.units; unit++) {
      const place = frame.placeBetween(walks.place(unit, tick), walks.place(unit, tick + 1), share);
      this.units.put(groups.of[unit], walks.arrivals[unit] <= tick, place);
    }
    this.units.draw(context, size, colours);
    for (const [unit, goal] of this.goals.at(tick)) {
      if (walks.arrivals[unit] > tick) drawRing(context, frame.place(goal), size, colours.units[groups.of[unit]]);
    }
    groups.goals.forEach((goal, k) => drawDots(context, [frame.place(goal)], size * 1.6, colours.units[k], colours.ring));
  }
}

class CrowdPlayer extends Player {
  constructor(root, trace) {
    super(root, [new CrowdView(trace, (time) => this.seek(time))], "tick");
    this.time = 0;
    const [view] = this.views;
    const keys = view.groups.names.map((name, k) => element("span", { class: `replay-key replay-key-unit-${k}` }, name));
    const cut = `Only the first ${written(view.walks.ticks)} ticks were recorded; the crowd continued after that.`;
    this.open(
      [...(trace.cut ? [element("p", { class: "replay-note" }, cut)] : []), view.root],
      [
        element("div", { class: "replay-layers" }, element("div", { class: "replay-legend crowd-legend" }, ...keys)),
        element("p", { class: "replay-note" }, view.goals.trails.size ? `${DOTS} Rings are goals that move.` : DOTS),
      ],
    );
  }
}

/** Build a player for a crowd, given as a JSON document, inside an element; return a promise of the player. */
export function mountCrowd(root, document) {
  return opened(root, async () => new CrowdPlayer(root, await readCrowd(document)));
}
