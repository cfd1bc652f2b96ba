/*
 * Replays Andante traces: what agents thought and where they went, side by side, on one clock.
 *
 * A trace is the JSON that Trace.to_json writes (src/andante/episode/trace.py says what is in it). No dependencies, no
 * network. AndanteReplay.mount(element, documents) builds the player inside an element; AndanteReplay.readTrace(document)
 * unpacks one trace for other uses. crowd.js replays crowds with the same map (MapView) and the same controls (Player).
 * Colours come from the CSS variables in replay.css.
 *
 * The clock counts moves: each move takes 1, and before it the agent thinks, PACE expansions to the time of one move.
 */
(function () {
  "use strict";

  const PACE = 1000; // states that can be expanded in the time of one move
  const EXPANDED = 0;
  const FLASH = 800; // expansions that stand out as the latest
  const TAIL = 160; // moves that stand out as the latest
  const WHOLE_REPLAY = 30; // seconds, at the speed it starts with
  const NARROW = 720; // pixels, below which one agent is shown at first
  const FOG = 0.88; // how dense it is: what an agent has not seen yet shimmers through
  const SHARPEST = 2; // device pixels per pixel, at most

  const ENDINGS = {
    GOAL: "arrived",
    STUCK: "stuck",
    UNREACHABLE: "no way there",
    COST_CAP: "stopped at the limit on cost",
    MOVE_CAP: "stopped at the limit on moves",
    EXPANSION_CAP: "stopped at the limit on expansions",
  };
  const TERRAIN = { ".": "ground", G: "ground", S: "swamp", T: "trees", W: "water", "@": "wall", O: "wall" };
  const ARRAYS = { uint8: Uint8Array, int32: Int32Array, float64: Float64Array };

  // --- reading traces -----------------------------------------------------------------------------------------------

  async function inflate(text) {
    const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  /** The numbers of a column: bytes lie in planes, the lowest of all numbers first, and may be differences. */
  async function readColumn({ type, length, delta, data }) {
    const planes = await inflate(data);
    const size = ARRAYS[type].BYTES_PER_ELEMENT;
    const bytes = new Uint8Array(length * size);
    for (let plane = 0; plane < size; plane++) {
      for (let i = 0; i < length; i++) bytes[i * size + plane] = planes[plane * length + i];
    }
    const numbers = new ARRAYS[type](bytes.buffer);
    if (delta) for (let i = 1; i < length; i++) numbers[i] += numbers[i - 1];
    return numbers;
  }

  async function readTable(columns) {
    const names = Object.keys(columns);
    const arrays = await Promise.all(names.map((name) => readColumn(columns[name])));
    return Object.fromEntries(names.map((name, k) => [name, arrays[k]]));
  }

  /** A trace with its columns as typed arrays. */
  async function readTrace(document) {
    if (document.format !== "andante-trace" || document.version !== 1) throw new Error("this is not a trace of version 1");
    const [terrain, moves, thoughts] = await Promise.all([
      readColumn(document.terrain),
      readTable(document.moves),
      readTable(document.thoughts),
    ]);
    return { ...document, terrain, moves, thoughts };
  }

  // --- an episode: what is the case at a given time ------------------------------------------------------------------

  class Episode {
    constructor(trace) {
      this.trace = trace;
      this.count = trace.moves.state.length;
      this.ends = new Float64Array(this.count); // when each move is done
      this.walked = new Float64Array(this.count + 1); // cost after so many moves
      this.total = new Float64Array(this.count + 1); // states expanded for so many moves
      this.firstThought = new Int32Array(this.count + 2); // before each move, and after the last
      let clock = 0;
      for (let k = 0; k < this.count; k++) {
        clock += trace.moves.expanded[k] / PACE + 1;
        this.ends[k] = clock;
        this.walked[k + 1] = this.walked[k] + trace.moves.cost[k];
        this.total[k + 1] = this.total[k] + trace.moves.expanded[k];
        this.firstThought[k + 1] = this.firstThought[k] + trace.moves.thoughts[k];
      }
      this.firstThought[this.count + 1] = trace.thoughts.state.length;
      this.duration = clock + this.thinking(this.count);
      this.measureRises();
    }

    /** How long the agent thinks before a move; after the last move, about what led to none. */
    thinking(move) {
      if (move < this.count) return this.trace.moves.expanded[move] / PACE;
      return (this.firstThought[this.count + 1] - this.firstThought[this.count]) / PACE;
    }

    /** How far each learned value lies above the straight-line distance to the goal. */
    measureRises() {
      const { thoughts, width, goal, diagonal } = this.trace;
      const goalX = goal % width;
      const goalY = Math.floor(goal / width);
      this.rise = new Float32Array(thoughts.state.length);
      this.mostRise = 0;
      for (let i = 0; i < this.rise.length; i++) {
        if (thoughts.kind[i] === EXPANDED) continue;
        const dx = Math.abs((thoughts.state[i] % width) - goalX);
        const dy = Math.abs(Math.floor(thoughts.state[i] / width) - goalY);
        this.rise[i] = thoughts.value[i] - Math.abs(dx - dy) - Math.min(dx, dy) * diagonal;
        if (this.rise[i] < Infinity && this.rise[i] > this.mostRise) this.mostRise = this.rise[i];
      }
    }

    /** Moves done, thoughts thought, and how much of the next thinking and the next move is over. */
    at(time) {
      const moves = countUpTo(this.ends, time);
      const since = time - (moves ? this.ends[moves - 1] : 0);
      const thinking = this.thinking(moves);
      const share = thinking > 0 ? Math.min(1, since / thinking) : 1;
      const first = this.firstThought[moves];
      const thoughts = first + Math.floor(share * (this.firstThought[moves + 1] - first));
      const step = moves < this.count ? Math.min(1, Math.max(0, since - thinking)) : 0;
      return { moves, thoughts, share, step, over: time >= this.duration };
    }

    place(moves) {
      return moves ? this.trace.moves.state[moves - 1] : this.trace.start;
    }
  }

  /** How many of the ascending numbers are at most the given one. */
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

  // --- a map on a canvas --------------------------------------------------------------------------------------------

  class MapView {
    /** Of a trace, which has terrain, width, height, and the names of an algorithm and a map. */
    constructor(trace) {
      this.trace = trace;
      this.root = element("figure", { class: "replay-view" });
      this.canvas = element("canvas", { role: "img", "aria-label": `${trace.algorithm} walking over ${trace.map}` });
      this.status = element("span", { class: "replay-status" });
      this.map = layer(trace.width, trace.height);
    }

    get whole() {
      return { x: 0, y: 0, width: this.trace.width, height: this.trace.height };
    }

    /** Take over the colours of the page, and draw the ground anew. */
    paint(colours) {
      this.colours = colours;
      const { terrain, width, height } = this.trace;
      const image = this.map.context.createImageData(width, height);
      const pixels = new Uint32Array(image.data.buffer);
      const ground = new Uint32Array(256);
      for (const [character, name] of Object.entries(TERRAIN)) ground[character.charCodeAt(0)] = colours[name];
      for (let i = 0; i < pixels.length; i++) pixels[i] = ground[terrain[i]];
      this.map.context.putImageData(image, 0, 0);
    }

    /** Show this part of the map, as large as the canvas is on the page. */
    fit(crop) {
      this.crop = crop;
      this.canvas.style.aspectRatio = `${crop.width} / ${crop.height}`;
      const { width } = sharpen(this.canvas, crop.height / crop.width);
      this.scale = width / crop.width;
    }

    /** Draw the map, and other layers of the same size over it. */
    drawLayers(context, ...others) {
      const { crop } = this;
      context.imageSmoothingEnabled = this.scale < 1;
      for (const { canvas } of [this.map, ...others]) {
        context.drawImage(canvas, crop.x, crop.y, crop.width, crop.height, 0, 0, this.canvas.width, this.canvas.height);
      }
    }

    onCanvas(state) {
      const { width } = this.trace;
      const x = (state % width) + 0.5 - this.crop.x;
      const y = Math.floor(state / width) + 0.5 - this.crop.y;
      return [x * this.scale, y * this.scale];
    }

    /** The radius of a dot that stands out on the map. */
    get dotSize() {
      return Math.max(5, Math.min(11, this.scale * 1.2)) * Math.min(2, this.canvas.width / 500 + 0.4);
    }

    /** Dots of one colour, each with a ring of this width. */
    dots(context, places, radius, colour, ring = Math.max(1.5, radius * 0.3)) {
      context.beginPath();
      for (const [x, y] of places) {
        context.moveTo(x + radius, y);
        context.arc(x, y, radius, 0, 2 * Math.PI);
      }
      context.fillStyle = colour;
      context.fill();
      context.lineWidth = ring;
      context.strokeStyle = this.colours.ring;
      context.stroke();
    }
  }

  // --- a view: one episode on one canvas -----------------------------------------------------------------------------

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
      this.overlay = layer(trace.width, trace.height);
      this.image = this.overlay.context.createImageData(trace.width, trace.height);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.heat = new Float32Array(trace.width * trace.height);
      this.seen = new Uint8Array(trace.width * trace.height);
      this.fog = layer(trace.width, trace.height); // what an agent that discovers its map has not seen yet
      this.unseen = this.fog.context.createImageData(trace.width, trace.height);
      this.veil = new Uint32Array(this.unseen.data.buffer);
      this.way = new Int32Array(trace.width * trace.height); // the way walked, without its loops ...
      this.placeOnWay = new Int32Array(trace.width * trace.height); // ... and where each cell stands on it, from 1
      this.forget();
    }

    get duration() {
      return this.episode.duration;
    }

    paint(colours, layers) {
      super.paint(colours);
      this.layers = layers;
      this.forget();
    }

    /** Back to before the first thought. */
    forget() {
      this.thoughtsShown = 0;
      this.movesShown = 0;
      this.flashing = [];
      this.pixels.fill(0);
      this.heat.fill(0);
      this.seen.fill(0);
      this.placeOnWay.fill(0);
      this.wayLength = 0;
      this.veil.fill(this.episode.trace.sight && this.colours ? this.colours.unseen : 0);
      this.goOn(this.episode.trace.start);
    }

    show(time) {
      const now = this.episode.at(time);
      if (now.thoughts < this.thoughtsShown || now.moves < this.movesShown) this.forget();
      this.think(now);
      this.walk(now);
      this.compose(now);
      this.tell(now);
    }

    /** When the agent has made one move more than at this time, or fewer. */
    stepFrom(time, by) {
      const { ends, count } = this.episode;
      const moves = Math.max(0, this.episode.at(time).moves + by);
      return moves ? ends[Math.min(moves, count) - 1] : 0;
    }

    /** Bring the overlay up to the thoughts thought by now. */
    think(now) {
      const { kind, state } = this.episode.trace.thoughts;
      for (const cell of this.flashing) this.pixels[cell] = this.resting(cell);
      this.flashing = [];
      for (let i = this.thoughtsShown; i < now.thoughts; i++) {
        const cell = state[i];
        if (kind[i] === EXPANDED) this.seen[cell] = 1;
        else this.heat[cell] = Math.max(this.episode.rise[i], 1e-6);
        this.pixels[cell] = this.resting(cell);
      }
      this.thoughtsShown = now.thoughts;
      if (now.over || !this.layers.expanded) return;
      const first = this.episode.firstThought[now.moves];
      for (let i = Math.max(first, now.thoughts - FLASH); i < now.thoughts; i++) {
        if (kind[i] !== EXPANDED) continue;
        this.pixels[state[i]] = this.colours.flash;
        this.flashing.push(state[i]);
      }
    }

    /** The colour of a cell that nothing is happening to. */
    resting(cell) {
      if (this.heat[cell] > 0 && this.layers.learned) {
        const share = Math.min(1, Math.sqrt(this.heat[cell] / (this.episode.mostRise || 1)));
        return this.colours.heat[Math.round(share * (this.colours.heat.length - 1))];
      }
      return this.seen[cell] && this.layers.expanded ? this.colours.expanded : 0;
    }

    walk(now) {
      for (let k = this.movesShown + 1; k <= now.moves; k++) this.goOn(this.episode.place(k));
      this.movesShown = now.moves;
    }

    /** Lengthen the way by a cell; if it has been there before, cut it back to there. */
    goOn(cell) {
      this.look(cell);
      if (this.placeOnWay[cell]) {
        while (this.wayLength > this.placeOnWay[cell]) this.placeOnWay[this.way[--this.wayLength]] = 0;
      } else {
        this.way[this.wayLength++] = cell;
        this.placeOnWay[cell] = this.wayLength;
      }
    }

    /** Lift the fog from all that is in sight of a cell. */
    look(cell) {
      const { sight, width, height } = this.episode.trace;
      if (!sight) return;
      const x = cell % width;
      const y = Math.floor(cell / width);
      const right = Math.min(width - 1, x + sight);
      for (let row = Math.max(0, y - sight); row <= Math.min(height - 1, y + sight); row++) {
        this.veil.fill(0, row * width + Math.max(0, x - sight), row * width + right + 1);
      }
    }

    /** A line through so many cells. */
    line(context, count, cellAt, width) {
      context.lineWidth = width;
      context.beginPath();
      for (let k = 0; k < count; k++) context.lineTo(...this.onCanvas(cellAt(k)));
      context.stroke();
    }

    compose(now) {
      const context = this.canvas.getContext("2d");
      this.overlay.context.putImageData(this.image, 0, 0);
      this.fog.context.putImageData(this.unseen, 0, 0);
      this.drawLayers(context, this.fog, this.overlay);
      if (this.layers.path) this.drawPath(context, now);
      const size = this.dotSize;
      this.dots(context, [this.onCanvas(this.trace.start)], size * 0.75, this.colours.start);
      this.dots(context, [this.onCanvas(this.trace.goal)], size * 0.75, this.colours.goal);
      this.dots(context, [this.agentPlace(now)], size, this.colours.agent);
    }

    /** The latest moves as a thin line, the way without its loops as a thick one. */
    drawPath(context, now) {
      const thick = Math.max(2, Math.min(5, this.scale * 0.5)) * Math.min(2, window.devicePixelRatio || 1);
      const tail = now.over ? 0 : Math.min(TAIL, now.moves);
      context.strokeStyle = this.colours.path;
      context.lineJoin = context.lineCap = "round";
      context.globalAlpha = 0.6;
      this.line(context, tail + 1, (k) => this.episode.place(now.moves - tail + k), thick / 2);
      context.globalAlpha = 1;
      this.line(context, this.wayLength, (k) => this.way[k], thick);
    }

    agentPlace(now) {
      const [x, y] = this.onCanvas(this.episode.place(now.moves));
      if (!now.step || now.moves >= this.episode.count) return [x, y];
      const [nextX, nextY] = this.onCanvas(this.episode.place(now.moves + 1));
      return [x + (nextX - x) * now.step, y + (nextY - y) * now.step];
    }

    tell(now) {
      const { episode } = this;
      const { optimal_cost: optimal, outcome } = episode.trace;
      const walked = episode.walked[now.moves];
      this.status.textContent = now.over ? ENDINGS[outcome] || outcome.toLowerCase() : now.share < 1 ? "thinking" : "walking";
      this.status.dataset.state = now.over ? (outcome === "GOAL" ? "arrived" : "failed") : "under-way";
      this.moves.textContent = `${written(now.moves)} of ${written(episode.count)}`;
      this.cost.textContent = optimal ? (walked / optimal).toFixed(2) : "-";
      const next = now.moves < episode.count ? episode.trace.moves.expanded[now.moves] : 0;
      this.effort.textContent = written(episode.total[now.moves] + Math.floor(next * now.share));
    }
  }

  // --- a player: controls, a clock, and views -------------------------------------------------------------------------

  class Player {
    /** Of views on one clock, which counts what is called `beat`: "move" or "tick". */
    constructor(root, views, beat) {
      this.root = root;
      this.views = views;
      this.beat = beat;
      this.duration = Math.max(1, ...views.map((view) => view.duration));
      this.time = this.duration;
      this.playing = false;
    }

    /** Build the page, with these elements above and below the controls, and show it. */
    open(above, below) {
      this.playButton = button("Play", ICONS.play, () => this.toggle());
      this.scrubber = slider("Time", 0, this.duration, "any", this.time, (value) => this.seek(value));
      const speed = Math.log2(Math.max(4, this.duration / WHOLE_REPLAY));
      this.speed = slider("Speed", 0, Math.max(12, Math.ceil(speed)), "any", speed, () => this.tellSpeed());
      this.speedText = element("output", { class: "replay-speed" });
      this.root.replaceChildren(
        ...above,
        element(
          "div",
          { class: "replay-controls" },
          element(
            "div",
            { class: "replay-buttons" },
            button("To the start", ICONS.start, () => this.seek(0)),
            button(`One ${this.beat} back`, ICONS.back, () => this.step(-1)),
            this.playButton,
            button(`One ${this.beat} on`, ICONS.on, () => this.step(1)),
          ),
          this.scrubber,
          element("label", { class: "replay-speed-label" }, "Speed ", this.speed, this.speedText),
        ),
        ...below,
      );
      this.root.tabIndex = 0;
      this.root.setAttribute("role", "region");
      const keys = `space plays and pauses, the arrows go by a ${this.beat}, Home and End to the ends`;
      this.root.setAttribute("aria-label", `Replay: ${keys}`);
      this.tellSpeed();
      this.recolour();
      this.listen();
      this.layout();
    }

    listen() {
      this.root.addEventListener("keydown", (event) => this.key(event));
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
        this.recolour();
        this.layout();
      });
      let width = 0;
      new ResizeObserver(([entry]) => {
        if (Math.abs(entry.contentRect.width - width) < 1) return;
        width = entry.contentRect.width;
        this.layout();
      }).observe(this.root);
    }

    key(event) {
      if (event.target.closest("input, button") && !(event.key === " " && event.target.type === "range")) return;
      const actions = {
        " ": () => this.toggle(),
        ArrowLeft: () => this.step(-1),
        ArrowRight: () => this.step(1),
        Home: () => this.seek(0),
        End: () => this.seek(this.duration),
      };
      if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      actions[event.key]();
    }

    recolour() {
      this.colours = readColours(this.root);
    }

    /** Draw everything anew: the page, the colours or what is shown have changed. */
    layout() {
      for (const view of this.shown()) {
        view.paint(this.colours);
        view.fit(view.whole);
      }
      this.show();
    }

    shown() {
      return this.views.filter((view) => !view.root.hidden);
    }

    show() {
      for (const view of this.shown()) view.show(this.time);
      this.scrubber.value = String(this.time);
      this.scrubber.setAttribute("aria-valuetext", `${Math.round((100 * this.time) / this.duration)} %`);
    }

    seek(time) {
      this.time = Math.min(this.duration, Math.max(0, time));
      this.show();
    }

    /** One beat on or back, by the first view shown. */
    step(by) {
      this.pause();
      this.seek(this.shown()[0].stepFrom(this.time, by));
    }

    toggle() {
      if (this.playing) this.pause();
      else this.play();
    }

    play() {
      if (this.time >= this.duration) this.time = 0;
      this.playing = true;
      setIcon(this.playButton, "Pause", ICONS.pause);
      let last = null;
      const frame = (now) => {
        if (!this.playing) return;
        const passed = last === null ? 0 : Math.min(now - last, 100);
        last = now;
        this.seek(this.time + (passed / 1000) * this.beatsPerSecond());
        if (this.time >= this.duration) this.pause();
        else requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    }

    pause() {
      this.playing = false;
      setIcon(this.playButton, "Play", ICONS.play);
    }

    beatsPerSecond() {
      return 2 ** Number(this.speed.value);
    }

    tellSpeed() {
      const text = `${written(Math.round(this.beatsPerSecond()))} ${this.beat}s/s`;
      this.speedText.textContent = text;
      this.speed.setAttribute("aria-valuetext", text);
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
        `${written(PACE)} states. One that plans far ahead is seen standing still.`;
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
      if (shown.length === 1 && shown[0] === view) return; // one always stays
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

  /** The part of the map that all walks lie in, with a margin; null if the traces are of different maps. */
  function sharedCrop(traces) {
    const { width, height, map } = traces[0];
    if (traces.some((trace) => trace.width !== width || trace.height !== height || trace.map !== map)) return null;
    let [left, right, top, bottom] = [width, 0, height, 0];
    for (const trace of traces) {
      for (const states of [[trace.start, trace.goal], trace.moves.state]) {
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

  // --- colours ----------------------------------------------------------------------------------------------------------

  function readColours(root) {
    const style = getComputedStyle(root);
    const read = (name) => style.getPropertyValue(`--map-${name}`).trim();
    const pixel = (name, opacity = 1) => pack(channels(read(name)), opacity);
    const stops = ["heat-low", "heat-middle", "heat-high"].map((name) => channels(read(name)));
    const heat = Array.from({ length: 65 }, (_, k) => pack(between(stops, k / 64), 1));
    const cells = Object.fromEntries([...new Set(Object.values(TERRAIN))].map((name) => [name, pixel(name)]));
    const lines = Object.fromEntries(["path", "start", "goal", "agent", "ring"].map((name) => [name, read(name)]));
    return { ...cells, ...lines, heat, expanded: pixel("expanded"), flash: pixel("flash"), unseen: pixel("unseen", FOG) };
  }

  function channels(hex) {
    return [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
  }

  /** A pixel of an ImageData, as the 32 bits that little-endian machines hold. */
  function pack([red, green, blue], opacity) {
    return ((Math.round(255 * opacity) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  }

  function between(stops, share) {
    const place = share * (stops.length - 1);
    const low = Math.min(stops.length - 2, Math.floor(place));
    return stops[low].map((value, k) => Math.round(value + (stops[low + 1][k] - value) * (place - low)));
  }

  // --- small pieces of page ---------------------------------------------------------------------------------------------

  const ICONS = {
    play: "M5 3l14 9-14 9z",
    pause: "M5 3h5v18H5zM14 3h5v18h-5z",
    start: "M4 3h3v18H4zM20 3v18L8 12z",
    back: "M16 3v18L4 12zM18 3h3v18h-3z",
    on: "M8 3v18l12-9zM3 3h3v18H3z",
  };

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function fact(name, value) {
    return element("div", {}, element("dt", {}, name), value);
  }

  function layer(width, height) {
    const canvas = element("canvas", { width: String(width), height: String(height) });
    return { canvas, context: canvas.getContext("2d") };
  }

  /** Give a canvas as many pixels as it has on the page, and so many times as many in height as in width. */
  function sharpen(canvas, shape) {
    const sharp = Math.min(window.devicePixelRatio || 1, SHARPEST);
    canvas.width = Math.max(1, Math.round(canvas.clientWidth * sharp));
    canvas.height = Math.max(1, Math.round(canvas.width * shape));
    return canvas;
  }

  function button(label, icon, action) {
    const made = element("button", { type: "button", class: "replay-button" });
    setIcon(made, label, icon);
    made.addEventListener("click", action);
    return made;
  }

  function setIcon(target, label, icon) {
    target.setAttribute("aria-label", label);
    target.title = label;
    target.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${icon}"/></svg>`;
  }

  function slider(label, min, max, step, value, action) {
    const made = element("input", { type: "range", "aria-label": label, min: String(min), max: String(max), step });
    made.value = String(value);
    made.addEventListener("input", () => action(Number(made.value)));
    return made;
  }

  function legend(discovers) {
    const entries = [
      ...(discovers ? [["unseen", "not seen yet"]] : []),
      ["flash", "expanded now"],
      ["expanded", "expanded before"],
      ["heat", "learned, little to much"],
      ["start", "start"],
      ["goal", "goal"],
      ["agent", "agent"],
    ];
    const items = entries.map(([name, text]) => element("span", { class: `replay-key replay-key-${name}` }, text));
    return element("div", { class: "replay-legend" }, ...items);
  }

  function written(number) {
    return number.toLocaleString("en-US");
  }

  // --- the door ---------------------------------------------------------------------------------------------------------

  /** Build a player inside an element; the promise gives the player. If it cannot be built, the element says why. */
  async function opened(root, build) {
    try {
      return await build();
    } catch (error) {
      const why = typeof DecompressionStream === "undefined" ? "this browser is too old for it" : error.message;
      root.replaceChildren(element("p", { class: "replay-note" }, `The replay cannot be shown: ${why}.`));
      throw error;
    }
  }

  /** Build a player for these traces, given as JSON documents, inside an element. */
  function mount(root, documents) {
    return opened(root, async () => new AgentsPlayer(root, await Promise.all(documents.map(readTrace))));
  }

  const page = { element, fact, written, sharpen, opened };
  globalThis.AndanteReplay = { mount, readTrace, readColumn, Episode, MapView, Player, page };
})();
