/*
 * The shared parts of replays: reading columns of numbers, a clock with its controls, and small elements of pages.
 *
 * There are no dependencies and no network. walks.js replays agents and crowd.js crowds; both draw with draw.js, as the
 * playground does. A view has a root element and a duration, and draws itself at any time.
 */

import { drawBitmaps, Frame, Ground, readColours, sharpen } from "./draw.js";

const WHOLE_REPLAY = 30; // seconds, at the speed it starts with
const ARRAYS = { uint8: Uint8Array, int32: Int32Array, float64: Float64Array };

async function inflate(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Return the numbers of a column. Their bytes are in planes, the lowest bytes first, and may encode differences. */
export async function readColumn({ type, length, delta, data }) {
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

// --- a view: a map on a canvas -----------------------------------------------------------------------------------------

export class MapView {
  /** Make a view of a trace, which has terrain, width, height, and the names of an algorithm and a map. */
  constructor(trace) {
    this.trace = trace;
    this.root = element("figure", { class: "replay-view" });
    this.canvas = element("canvas", { role: "img", "aria-label": `${trace.algorithm} walking on ${trace.map}` });
    this.status = element("span", { class: "replay-status" });
    this.ground = new Ground(trace.width, trace.height, trace.terrain);
    this.frame = new Frame(trace.width, trace.height);
  }

  get whole() {
    return { x: 0, y: 0, width: this.trace.width, height: this.trace.height };
  }

  /** Read the colours of the page, and draw the ground again. */
  paint(colours) {
    this.colours = colours;
    this.ground.paint(colours);
  }

  /** Show this part of the map, as large as the canvas is on the page. */
  fit(crop) {
    this.canvas.style.aspectRatio = `${crop.width} / ${crop.height}`;
    this.frame.fit(crop, sharpen(this.canvas, crop.height / crop.width));
  }

  /** Draw the map with other bitmaps over it, and return the context to draw on. */
  begin(...bitmaps) {
    const context = this.canvas.getContext("2d");
    drawBitmaps(context, this.frame, this.ground, ...bitmaps);
    return context;
  }
}

// --- a player: controls, a clock, and views -------------------------------------------------------------------------

export class Player {
  /** Make a player of views with one clock, which counts beats called `beat`: "move" or "tick". */
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
    this.speed = slider("Speed", 0, Math.max(12, Math.ceil(speed)), "any", speed, () => this.showSpeed());
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
          button(`One ${this.beat} forward`, ICONS.on, () => this.step(1)),
        ),
        this.scrubber,
        element("label", { class: "replay-speed-label" }, "Speed ", this.speed, this.speedText),
      ),
      ...below,
    );
    this.root.tabIndex = 0;
    this.root.setAttribute("role", "region");
    const keys = `space plays and pauses, the arrow keys move by one ${this.beat}, Home and End to the start and end`;
    this.root.setAttribute("aria-label", `Replay: ${keys}`);
    this.showSpeed();
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

  /** Draw everything again, because the page, the colours or the layers have changed. */
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

  /** Go one beat forward or back, by the first view shown. */
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

  showSpeed() {
    const text = `${written(Math.round(this.beatsPerSecond()))} ${this.beat}s/s`;
    this.speedText.textContent = text;
    this.speed.setAttribute("aria-valuetext", text);
  }
}

// --- small elements of pages ----------------------------------------------------------------------------------------

const ICONS = {
  play: "M5 3l14 9-14 9z",
  pause: "M5 3h5v18H5zM14 3h5v18h-5z",
  start: "M4 3h3v18H4zM20 3v18L8 12z",
  back: "M16 3v18L4 12zM18 3h3v18h-3z",
  on: "M8 3v18l12-9zM3 3h3v18H3z",
};

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function fact(name, value) {
  return element("div", {}, element("dt", {}, name), value);
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

export function written(number) {
  return number.toLocaleString("en-US");
}

/** Build a player inside an element, and return a promise of it. If it cannot be built, the element says why. */
export async function opened(root, build) {
  try {
    return await build();
  } catch (error) {
    const why = typeof DecompressionStream === "undefined" ? "this browser is too old for it" : error.message;
    root.replaceChildren(element("p", { class: "replay-note" }, `The replay cannot be shown: ${why}.`));
    throw error;
  }
}
