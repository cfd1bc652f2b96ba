/*
 * Replays crowds: all units of a crowd on one map, tick by tick, with what the ticks took.
 *
 * A crowd is the JSON that CrowdTrace.to_json writes (src/andante/episode/crowdtrace.py says what is in it). Needs
 * replay.js: map and controls are the same. AndanteCrowd.mount(element, document) builds the player inside an element.
 */
(function () {
  "use strict";

  const { MapView, Player, readColumn } = AndanteReplay;
  const { element, fact, written, sharpen, opened } = AndanteReplay.page;

  const COLUMNS = [
    "terrain", "starts", "goals", "steps", "arrivals", "microseconds", "waiting", "change_ticks", "change_cells",
    "goal_units", "goal_ticks", "goal_states",
  ];
  const COLOURS = 6;
  const DIRECTIONS = ["east", "south-east", "south-west", "west", "north-west", "north-east"];
  const FAINT = 0.35; // how dense units that have arrived are drawn, and the highest of several bars
  const OVER = 1.1; // times the limit, from which a bar stands out
  const BAR_SHAPE = 0.16; // height over width
  const DOTS = "Dots are units, coloured by where they go; faint ones have arrived.";
  const TALLEST = 0.99; // share of the bars that are shown in full height; the others are cut

  // --- reading --------------------------------------------------------------------------------------------------------

  /** A crowd with its columns as typed arrays. */
  async function readCrowd(document) {
    if (document.format !== "andante-crowd" || document.version !== 3) throw new Error("this is not a crowd of version 3");
    const arrays = await Promise.all(COLUMNS.map((name) => readColumn(document[name])));
    return { ...document, ...Object.fromEntries(COLUMNS.map((name, k) => [name, arrays[k]])) };
  }

  /** Where everybody is after each tick, and the tick in which each unit arrives (Infinity if it does not). */
  class Walks {
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

  /** Where the goals are that move: from the first tick of each on which it has moved so far. */
  class Goals {
    constructor({ goals, goal_units: units, goal_ticks: ticks, goal_states: states }) {
      this.trails = new Map();
      units.forEach((unit, k) => {
        if (!this.trails.has(unit)) this.trails.set(unit, { ticks: [0], states: [goals[unit]] });
        this.trails.get(unit).ticks.push(ticks[k]);
        this.trails.get(unit).states.push(states[k]);
      });
    }

    /** The units whose goals move, each with where its goal is in the tick that follows this one. */
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

  // --- colours by goal --------------------------------------------------------------------------------------------------

  /** The group of each unit, and the names of the groups: each goal has its own, or each direction if there are many. */
  function groups({ goals, width, height }) {
    const different = [...new Set(goals)];
    if (different.length <= COLOURS) {
      const names = different.map((goal) => `to (${goal % width}, ${Math.floor(goal / width)})`);
      return { names, of: Uint8Array.from(goals, (goal) => different.indexOf(goal)), goals: different };
    }
    const direction = (goal) => {
      const angle = Math.atan2(Math.floor(goal / width) - height / 2, (goal % width) - width / 2);
      return (Math.round((angle / (2 * Math.PI)) * COLOURS) + COLOURS) % COLOURS;
    };
    return { names: DIRECTIONS.map((name) => `to the ${name}`), of: Uint8Array.from(goals, direction), goals: [] };
  }

  // --- bars -------------------------------------------------------------------------------------------------------------

  /** One number for each tick, as bars; where there is a limit, bars above it stand out. */
  class Bars {
    constructor(title, values, limit, write, seek) {
      Object.assign(this, { values, limit, write });
      const sorted = Float64Array.from(values).sort();
      this.top = Math.max(1, 1.2 * (limit || 0), sorted[Math.floor(TALLEST * (sorted.length - 1))] || 0);
      this.canvas = element("canvas", { role: "img", "aria-label": `${title}, by tick` });
      this.canvas.addEventListener("click", (event) => seek((event.offsetX / this.canvas.clientWidth) * values.length));
      this.text = element("span");
      this.root = element("div", { class: "crowd-bars" }, title, this.text, this.canvas);
    }

    /** Draw all bars; of those that share a pixel the mean, and faintly the highest. */
    paint(colours) {
      this.colours = colours;
      const { width, height } = sharpen(this.canvas, BAR_SHAPE);
      this.picture = element("canvas", { width: String(width), height: String(height) });
      const context = this.picture.getContext("2d");
      const bar = (x, value, density) => {
        const tall = Math.min(1, value / this.top) * height;
        context.globalAlpha = density;
        context.fillStyle = this.limit && value > OVER * this.limit ? colours.over : colours.bar;
        context.fillRect(x, height - tall, 1, tall);
      };
      const perPixel = this.values.length / width;
      for (let x = 0; x < width; x++) {
        const first = Math.floor(x * perPixel);
        const shared = this.values.subarray(first, Math.max(first + 1, Math.floor((x + 1) * perPixel)));
        if (!shared.length) continue;
        bar(x, Math.max(...shared), FAINT);
        bar(x, shared.reduce((sum, value) => sum + value, 0) / shared.length, 1);
      }
      context.globalAlpha = 1;
      if (!this.limit) return;
      context.fillStyle = colours.ink;
      context.fillRect(0, height * (1 - this.limit / this.top), width, 1);
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

  // --- the view -----------------------------------------------------------------------------------------------------------

  class CrowdView extends MapView {
    constructor(trace, seek) {
      super(trace);
      this.walks = new Walks(trace);
      this.goals = new Goals(trace);
      this.groups = groups(trace);
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
      const style = getComputedStyle(this.root);
      const read = (name) => style.getPropertyValue(`--${name}`).trim();
      this.unitColours = Array.from({ length: COLOURS }, (_, k) => read(`unit-${k}`));
      for (const bars of this.bars) bars.paint({ bar: read("accent-soft"), over: read("warm"), ink: read("ink") });
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
      this.status.textContent = !over ? "under way" : arrived === units ? "all arrived" : "the recording ends here";
      this.status.dataset.state = over && arrived === units ? "arrived" : "under-way";
    }

    /** Close and open the cells of the map that have changed by the end of a tick, or of none after it. */
    changeUntil(tick) {
      if (tick < this.changed.tick) super.paint(this.colours);
      let count = tick < this.changed.tick ? 0 : this.changed.count;
      const { change_ticks: ticks, change_cells: cells, width } = this.trace;
      const pixel = this.map.context.createImageData(1, 1);
      const colour = new Uint32Array(pixel.data.buffer);
      for (; count < ticks.length && ticks[count] <= tick + 1; count++) {
        const cell = cells[count] < 0 ? ~cells[count] : cells[count];
        colour[0] = cells[count] < 0 ? this.colours.wall : this.colours.ground;
        this.map.context.putImageData(pixel, cell % width, Math.floor(cell / width));
      }
      this.changed = { tick, count };
    }

    /** Units by colour: first those that have arrived, faintly, then those on their way. */
    draw(tick, share) {
      const context = this.canvas.getContext("2d");
      this.changeUntil(tick);
      this.drawLayers(context);
      const size = Math.max(1.6, Math.min(this.dotSize, 0.45 * this.dotSize * Math.sqrt(500 / this.walks.units)));
      const resting = Array.from({ length: COLOURS }, () => []);
      const moving = Array.from({ length: COLOURS }, () => []);
      for (let unit = 0; unit < this.walks.units; unit++) {
        const kept = this.walks.arrivals[unit] <= tick ? resting : moving;
        kept[this.groups.of[unit]].push(this.between(unit, tick, share));
      }
      context.globalAlpha = FAINT;
      resting.forEach((places, k) => this.dots(context, places, size, this.unitColours[k], 0.01));
      context.globalAlpha = 1;
      moving.forEach((places, k) => this.dots(context, places, size, this.unitColours[k], size * 0.3));
      for (const [unit, goal] of this.goals.at(tick)) {
        if (this.walks.arrivals[unit] > tick) this.ring(context, this.onCanvas(goal), size, this.unitColours[this.groups.of[unit]]);
      }
      this.groups.goals.forEach((goal, k) => this.dots(context, [this.onCanvas(goal)], size * 1.6, this.unitColours[k]));
    }

    /** A goal that moves. */
    ring(context, [x, y], size, colour) {
      context.beginPath();
      context.arc(x, y, size * 1.5, 0, 2 * Math.PI);
      context.lineWidth = Math.max(1.5, size * 0.5);
      context.strokeStyle = colour;
      context.stroke();
    }

    between(unit, tick, share) {
      const [x, y] = this.onCanvas(this.walks.place(unit, tick));
      if (!share) return [x, y];
      const [nextX, nextY] = this.onCanvas(this.walks.place(unit, tick + 1));
      return [x + (nextX - x) * share, y + (nextY - y) * share];
    }
  }

  class CrowdPlayer extends Player {
    constructor(root, trace) {
      super(root, [new CrowdView(trace, (time) => this.seek(time))], "tick");
      this.time = 0;
      const [view] = this.views;
      const keys = view.groups.names.map((name, k) => element("span", { class: `replay-key replay-key-unit-${k}` }, name));
      const cut = `Recorded were the first ${written(view.walks.ticks)} ticks; the crowd walked on after that.`;
      this.open(
        [...(trace.cut ? [element("p", { class: "replay-note" }, cut)] : []), view.root],
        [
          element("div", { class: "replay-layers" }, element("div", { class: "replay-legend crowd-legend" }, ...keys)),
          element("p", { class: "replay-note" }, view.goals.trails.size ? `${DOTS} Rings are goals that move.` : DOTS),
        ],
      );
    }
  }

  /** Build a player for a crowd, given as a JSON document, inside an element; the promise gives the player. */
  function mount(root, document) {
    return opened(root, async () => new CrowdPlayer(root, await readCrowd(document)));
  }

  globalThis.AndanteCrowd = { mount, readCrowd, Walks };
})();
