/*
 * The renderer of maps, agents and crowds, for the replays of reports and for the playground.
 *
 * It is plain JavaScript, because reports are written without Node; types are in comments, which the playground's
 * compiler checks. It does not depend on traces, engines or controls. Layers of the map are bitmaps of one pixel per
 * cell, of which only changed parts are drawn again; a Frame is the part of the map that a canvas shows. Colours come
 * from the CSS variables in colours.css.
 */

const TERRAIN = { ".": "ground", G: "ground", S: "swamp", T: "trees", W: "water", "@": "wall", O: "wall" };
const HEAT_STEPS = 64;
const SCALE_STEP = 1.3; // the least factor by which the scale of learned values grows
const FOG = 0.88; // its density: cells that an agent has not seen yet are faintly visible
const SHARPEST = 2; // device pixels per pixel, at most
const BAR_SHAPE = 0.16; // height over width
const FAINT = 0.35; // the density of units that have arrived, and of the highest of several bars
const KEPT_CHANGES = 64; // of a bitmap, so that an outdated backdrop can draw them again
const NEAR = 0.75; // device pixels between points of a line that are worth drawing
const OVER = 1.1; // times the limit, from which a bar is highlighted
const DIRECTIONS = ["east", "south-east", "south-west", "west", "north-west", "north-east"];

/** The number of colours of units. */
export const UNIT_COLOURS = 6;

/**
 * @typedef {object} Colours
 * @property {Uint32Array} terrain pixels by map character
 * @property {Uint32Array} heat pixels, from little learned to much
 * @property {number} expanded pixel of a cell that was expanded before
 * @property {number} flash pixel of a cell that was expanded now
 * @property {number} unseen pixel of fog
 * @property {number} stale pixel of a mark where a database is outdated
 * @property {string} path @property {string} plan @property {string} optimal @property {string} start
 * @property {string} goal @property {string} agent @property {string} ring @property {string} grid
 * @property {string} ink @property {string} bar @property {string} over
 * @property {string[]} units by group
 */

// --- colours ----------------------------------------------------------------------------------------------------------

/**
 * Return the colours of the page at this element, in the current theme.
 * @param {HTMLElement} root
 * @returns {Colours}
 */
export function readColours(root) {
  const probe = root.appendChild(document.createElement("span"));
  const style = getComputedStyle(probe);
  /** @param {string} name */
  const read = (name) => {
    probe.style.color = `var(--${name})`;
    return style.color;
  };
  /** @param {string} name */
  const pixel = (name, opacity = 1) => pack(channels(read(name)), opacity);
  const terrain = new Uint32Array(256);
  for (const [character, name] of Object.entries(TERRAIN)) terrain[character.charCodeAt(0)] = pixel(`map-${name}`);
  const stops = ["low", "middle", "high"].map((name) => channels(read(`map-heat-${name}`)));
  const colours = {
    terrain,
    heat: Uint32Array.from({ length: HEAT_STEPS + 1 }, (_, k) => pack(between(stops, k / HEAT_STEPS), 1)),
    expanded: pixel("map-expanded"),
    flash: pixel("map-flash"),
    unseen: pixel("map-unseen", FOG),
    stale: pixel("map-stale"),
    path: read("map-path"),
    plan: read("map-plan"),
    optimal: read("map-optimal"),
    start: read("map-start"),
    goal: read("map-goal"),
    agent: read("map-agent"),
    ring: read("map-ring"),
    grid: read("map-grid"),
    ink: read("ink"),
    bar: read("accent-soft"),
    over: read("warm"),
    units: Array.from({ length: UNIT_COLOURS }, (_, k) => read(`unit-${k}`)),
  };
  probe.remove();
  return colours;
}

/** @param {string} colour as in computed styles: rgb(1, 2, 3) @returns {number[]} */
function channels(colour) {
  return (colour.match(/[\d.]+/g) ?? ["0", "0", "0"]).slice(0, 3).map(Number);
}

/**
 * Return a pixel of an ImageData, as the 32 bits that little-endian machines store.
 * @param {number[]} channels
 * @param {number} opacity
 */
function pack([red = 0, green = 0, blue = 0], opacity) {
  return ((Math.round(255 * opacity) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** @param {number[][]} stops @param {number} share @returns {number[]} */
function between(stops, share) {
  const place = share * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(place));
  const [from, to] = [stops[low] ?? [], stops[low + 1] ?? []];
  return from.map((value, k) => Math.round(value + ((to[k] ?? 0) - value) * (place - low)));
}

// --- bitmaps: a pixel for each cell -----------------------------------------------------------------------------------

/** A bitmap of the size of the map, of which only the rectangle that changed is copied to its canvas. */
export class Bitmap {
  /** @param {number} width @param {number} height */
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.canvas = document.createElement("canvas");
    this.canvas.width = width;
    this.canvas.height = height;
    this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    this.image = this.context.createImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    /** @type {Box[]} the rectangles copied last, and their total number */
    this.copied = [];
    this.version = 0;
    // The rectangle that changed, empty at first.
    this.left = width;
    this.right = -1;
    this.top = height;
    this.bottom = -1;
  }

  touchNothing() {
    this.left = this.width;
    this.right = -1;
    this.top = this.height;
    this.bottom = -1;
  }

  touchAll() {
    this.left = this.top = 0;
    this.right = this.width - 1;
    this.bottom = this.height - 1;
  }

  /** @param {number} cell @param {number} pixel */
  set(cell, pixel) {
    if (this.pixels[cell] === pixel) return;
    this.pixels[cell] = pixel;
    const x = cell % this.width;
    const y = (cell - x) / this.width;
    if (x < this.left) this.left = x;
    if (x > this.right) this.right = x;
    if (y < this.top) this.top = y;
    if (y > this.bottom) this.bottom = y;
  }

  /** @param {number} pixel */
  fill(pixel) {
    this.pixels.fill(pixel);
    this.touchAll();
  }

  /** Copy what changed since the last time. */
  flush() {
    if (this.right < this.left) return;
    const { left, top, right, bottom } = this;
    this.context.putImageData(this.image, 0, 0, left, top, right - left + 1, bottom - top + 1);
    this.copied.push({ left, top, right, bottom });
    if (this.copied.length > KEPT_CHANGES) this.copied.shift();
    this.version++;
    this.touchNothing();
  }

  /** Return the rectangle around everything copied since a version; null if it is no longer known. @param {number} version @returns {Box | null} */
  since(version) {
    if (this.version - version > this.copied.length) return null;
    return this.copied.slice(this.copied.length - (this.version - version)).reduce(around, NOTHING);
  }
}

/** @typedef {{ left: number, top: number, right: number, bottom: number }} Box */

/** @type {Box} */
const NOTHING = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };

/** @param {Box} one @param {Box} other @returns {Box} */
function around(one, other) {
  return {
    left: Math.min(one.left, other.left),
    top: Math.min(one.top, other.top),
    right: Math.max(one.right, other.right),
    bottom: Math.max(one.bottom, other.bottom),
  };
}

/** The ground and its walls. */
export class Ground extends Bitmap {
  /** @param {number} width @param {number} height @param {Uint8Array} terrain map characters, row by row */
  constructor(width, height, terrain) {
    super(width, height);
    this.terrain = terrain;
    /** @type {Colours | null} */
    this.colours = null;
  }

  /** @param {Colours} colours */
  paint(colours) {
    this.colours = colours;
    for (let cell = 0; cell < this.pixels.length; cell++) this.pixels[cell] = colours.terrain[this.terrain[cell] ?? 0] ?? 0;
    this.touchAll();
  }

  /** Show a cell with another map character. @param {number} cell @param {number} character */
  change(cell, character) {
    if (this.colours) this.set(cell, this.colours.terrain[character] ?? 0);
  }
}

/** The thoughts of an agent: cells expanded now and before, and the rise of learned values. */
export class Mind extends Bitmap {
  /** @param {number} width @param {number} height */
  constructor(width, height) {
    super(width, height);
    this.seen = new Uint8Array(width * height);
    this.heat = new Float32Array(width * height);
    this.scale = 0; // the rise that gets the warmest colour
    this.stale = false; // whether all colours must be computed again
    /** @type {number[]} */
    this.flashing = [];
    this.layers = { expanded: true, learned: true };
    /** @type {Colours | null} */
    this.colours = null;
  }

  forget() {
    this.seen.fill(0);
    this.heat.fill(0);
    this.scale = 0;
    this.flashing = [];
    this.fill(0);
  }

  /** Draw everything with other colours or layers. @param {Colours} colours @param {{ expanded: boolean, learned: boolean }} layers */
  paint(colours, layers) {
    this.colours = colours;
    this.layers = layers;
    this.repaint();
  }

  repaint() {
    for (let cell = 0; cell < this.pixels.length; cell++) this.pixels[cell] = this.resting(cell);
    this.touchAll();
  }

  /** @param {number} cell */
  expand(cell) {
    this.seen[cell] = 1;
    this.set(cell, this.resting(cell));
  }

  /** @param {number} cell @param {number} rise of its value above the straight-line distance */
  learn(cell, rise) {
    this.heat[cell] = Math.max(rise, 1e-6);
    if (rise > this.scale && rise < Infinity) {
      // It grows in steps, so that colours are rarely computed again, and do not depend on the order of thoughts.
      this.scale = SCALE_STEP ** Math.ceil(Math.log(rise) / Math.log(SCALE_STEP));
      this.stale = true;
    }
    this.set(cell, this.resting(cell));
  }

  /** Highlight these cells as the latest, and no others. @param {ArrayLike<number>} cells @param {number} from @param {number} to */
  flash(cells, from, to) {
    for (const cell of this.flashing) this.set(cell, this.resting(cell));
    this.flashing = [];
    if (!this.colours || !this.layers.expanded) return;
    for (let k = from; k < to; k++) {
      const cell = cells[k] ?? 0;
      this.set(cell, this.colours.flash);
      this.flashing.push(cell);
    }
  }

  /** Return the colour of a cell that is not highlighted. @param {number} cell */
  resting(cell) {
    if (!this.colours) return 0;
    const heat = this.heat[cell] ?? 0;
    if (heat > 0 && this.layers.learned) {
      const share = Math.min(1, Math.sqrt(heat / (this.scale || 1)));
      return this.colours.heat[Math.round(share * HEAT_STEPS)] ?? 0;
    }
    return this.seen[cell] && this.layers.expanded ? this.colours.expanded : 0;
  }

  flush() {
    if (this.stale) {
      this.stale = false;
      const latest = this.flashing;
      this.flashing = [];
      this.repaint();
      this.flash(latest, 0, latest.length);
    }
    super.flush();
  }
}

/** Fog over what an agent that discovers its map has not seen yet. */
export class Fog extends Bitmap {
  /** @param {Colours} colours */
  cover(colours) {
    this.fill(colours.unseen);
  }

  /** Lift the fog from all cells in sight of a cell. @param {number} cell @param {number} sight */
  look(cell, sight) {
    const x = cell % this.width;
    const y = Math.floor(cell / this.width);
    for (let row = Math.max(0, y - sight); row <= Math.min(this.height - 1, y + sight); row++) {
      for (let column = Math.max(0, x - sight); column <= Math.min(this.width - 1, x + sight); column++) {
        this.set(row * this.width + column, 0);
      }
    }
  }
}

/** Marks on cells where a database is outdated, on every second cell, so that the layers below are visible too. */
export class Marks extends Bitmap {
  /** @param {ArrayLike<number> | null} marked not 0 where a mark is @param {Colours} colours */
  show(marked, colours) {
    for (let cell = 0; cell < this.pixels.length; cell++) {
      const x = cell % this.width;
      const isMarked = marked !== null && marked[cell] !== 0 && (x + (cell - x) / this.width) % 2 === 0;
      this.set(cell, isMarked ? colours.stale : 0);
    }
  }
}

/** A path without its loops: when it returns to a cell, everything since then is removed. */
export class LoopFreePath {
  constructor() {
    /** @type {number[]} */
    this.cells = [];
    /** @type {Map<number, number>} */
    this.places = new Map();
  }

  /** @param {number} cell */
  extend(cell) {
    const before = this.places.get(cell);
    if (before === undefined) {
      this.places.set(cell, this.cells.length);
      this.cells.push(cell);
      return;
    }
    while (this.cells.length > before + 1) this.places.delete(/** @type {number} */ (this.cells.pop()));
  }

  forget() {
    this.cells = [];
    this.places.clear();
  }
}

// --- frames: which part of the map is seen ----------------------------------------------------------------------------

/** The part of a map that a canvas shows: the cell at its upper left corner, and device pixels per cell. */
export class Frame {
  /** @param {number} width of the map, in cells @param {number} height */
  constructor(width, height) {
    this.width = width;
    this.height = height;
    this.x = 0;
    this.y = 0;
    this.scale = 1;
  }

  /** Show this rectangle of the map on a canvas. @param {{ x: number, y: number, width: number, height: number }} crop @param {HTMLCanvasElement} canvas */
  fit(crop, canvas) {
    this.scale = Math.min(canvas.width / crop.width, canvas.height / crop.height);
    this.x = crop.x - (canvas.width / this.scale - crop.width) / 2;
    this.y = crop.y - (canvas.height / this.scale - crop.height) / 2;
  }

  /** Return the middle of a cell on the canvas. @param {number} cell @returns {[number, number]} */
  place(cell) {
    const x = cell % this.width;
    const y = (cell - x) / this.width;
    return [(x + 0.5 - this.x) * this.scale, (y + 0.5 - this.y) * this.scale];
  }

  /** Return a place between two cells. @param {number} cell @param {number} next @param {number} share @returns {[number, number]} */
  placeBetween(cell, next, share) {
    const [x, y] = this.place(cell);
    if (!share || cell === next) return [x, y];
    const [nextX, nextY] = this.place(next);
    return [x + (nextX - x) * share, y + (nextY - y) * share];
  }

  /** Return the cell at a place of the canvas, -1 beside the map. @param {number} x @param {number} y */
  cellAt(x, y) {
    const column = Math.floor(x / this.scale + this.x);
    const row = Math.floor(y / this.scale + this.y);
    if (column < 0 || row < 0 || column >= this.width || row >= this.height) return -1;
    return row * this.width + column;
  }

  /** Return the radius of a dot that is well visible on the map. @param {HTMLCanvasElement} canvas */
  dotSize(canvas) {
    return Math.max(5, Math.min(11, this.scale * 1.2)) * Math.min(1.3, canvas.width / 500 + 0.4);
  }
}

/** Give a canvas the resolution of its size on the page. @param {HTMLCanvasElement} canvas @param {number} [shape] height over width, if it is not the canvas's own */
export function sharpen(canvas, shape) {
  const sharp = Math.min(window.devicePixelRatio || 1, SHARPEST);
  const width = Math.max(1, Math.round(canvas.clientWidth * sharp));
  const height = Math.max(1, Math.round(shape ? width * shape : canvas.clientHeight * sharp));
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  return canvas;
}

// --- drawing ----------------------------------------------------------------------------------------------------------

/**
 * Draw bitmaps over each other; only the cells in sight are read.
 * @param {CanvasRenderingContext2D} context @param {Frame} frame @param {Bitmap[]} bitmaps
 */
export function drawBitmaps(context, frame, ...bitmaps) {
  const { canvas } = context;
  const left = Math.max(0, Math.floor(frame.x));
  const top = Math.max(0, Math.floor(frame.y));
  const right = Math.min(frame.width, Math.ceil(frame.x + canvas.width / frame.scale));
  const bottom = Math.min(frame.height, Math.ceil(frame.y + canvas.height / frame.scale));
  if (right <= left || bottom <= top) return;
  const [x, y] = [(left - frame.x) * frame.scale, (top - frame.y) * frame.scale];
  const [wide, high] = [(right - left) * frame.scale, (bottom - top) * frame.scale];
  context.imageSmoothingEnabled = frame.scale < 1;
  for (const bitmap of bitmaps) {
    bitmap.flush();
    context.drawImage(bitmap.canvas, left, top, right - left, bottom - top, x, y, wide, high);
  }
}

/** Scaled bitmaps, kept from frame to frame: only changed parts are scaled again. */
export class Backdrop {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    this.view = "";
    /** @type {{ bitmap: Bitmap, version: number }[]} */
    this.shown = [];
  }

  /** Draw bitmaps over each other on a canvas, replacing its contents. @param {CanvasRenderingContext2D} context @param {Frame} frame @param {Bitmap[]} bitmaps */
  draw(context, frame, ...bitmaps) {
    const { width, height } = context.canvas;
    for (const bitmap of bitmaps) bitmap.flush();
    const view = [width, height, frame.x, frame.y, frame.scale].join(" ");
    const same = view === this.view && bitmaps.length === this.shown.length && bitmaps.every((bitmap, k) => bitmap === this.shown[k]?.bitmap);
    const changes = same ? this.shown.map(({ bitmap, version }) => bitmap.since(version)) : [null];
    if (changes.includes(null)) this.redraw(width, height, frame, bitmaps);
    else this.redrawPart(frame, bitmaps, changes.reduce((all, one) => around(/** @type {Box} */ (all), /** @type {Box} */ (one)), NOTHING));
    this.view = view;
    this.shown = bitmaps.map((bitmap) => ({ bitmap, version: bitmap.version }));
    context.globalCompositeOperation = "copy";
    context.drawImage(this.canvas, 0, 0);
    context.globalCompositeOperation = "source-over";
  }

  /** @param {number} width @param {number} height @param {Frame} frame @param {Bitmap[]} bitmaps */
  redraw(width, height, frame, bitmaps) {
    this.canvas.width = width;
    this.canvas.height = height;
    drawBitmaps(this.context, frame, ...bitmaps);
  }

  /** Draw changed cells and their surroundings again, because pixels can be mixed from several cells. @param {Frame} frame @param {Bitmap[]} bitmaps @param {Box | null} box */
  redrawPart(frame, bitmaps, box) {
    if (!box || box.right < box.left) return;
    const edge = Math.max(1, 2 / frame.scale);
    const left = Math.floor((box.left - edge - frame.x) * frame.scale);
    const top = Math.floor((box.top - edge - frame.y) * frame.scale);
    const right = Math.ceil((box.right + 1 + edge - frame.x) * frame.scale);
    const bottom = Math.ceil((box.bottom + 1 + edge - frame.y) * frame.scale);
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(left, top, right - left, bottom - top);
    context.clip();
    context.clearRect(left, top, right - left, bottom - top);
    drawBitmaps(context, frame, ...bitmaps);
    context.restore();
  }
}

/**
 * Draw a line through cells.
 * @param {CanvasRenderingContext2D} context @param {Frame} frame @param {ArrayLike<number>} cells
 * @param {{ from?: number, to?: number, width: number, colour: string, opacity?: number, dash?: number[] }} look
 */
export function drawLine(context, frame, cells, { from = 0, to = cells.length, width, colour, opacity = 1, dash = [] }) {
  if (to - from < 2) return;
  context.lineJoin = context.lineCap = "round";
  context.strokeStyle = colour;
  context.globalAlpha = opacity;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.beginPath();
  let [lastX, lastY] = [Infinity, Infinity];
  for (let k = from; k < to; k++) {
    const [x, y] = frame.place(cells[k] ?? 0);
    if (k < to - 1 && Math.abs(x - lastX) < NEAR && Math.abs(y - lastY) < NEAR) continue;
    context.lineTo(x, y);
    [lastX, lastY] = [x, y];
  }
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
}

/** Return the width of an agent's path. @param {Frame} frame */
export function lineWidth(frame) {
  return Math.max(2, Math.min(5, frame.scale * 0.5)) * Math.min(2, window.devicePixelRatio || 1);
}

/**
 * Draw dots of one colour, each with a ring.
 * @param {CanvasRenderingContext2D} context @param {Iterable<[number, number]>} places @param {number} radius
 * @param {string} colour @param {string} ringColour @param {number} [ring] its width
 */
export function drawDots(context, places, radius, colour, ringColour, ring = Math.max(1.5, radius * 0.3)) {
  context.beginPath();
  for (const [x, y] of places) {
    context.moveTo(x + radius, y);
    context.arc(x, y, radius, 0, 2 * Math.PI);
  }
  context.fillStyle = colour;
  context.fill();
  if (!ring) return;
  context.lineWidth = ring;
  context.strokeStyle = ringColour;
  context.stroke();
}

/** Draw a ring, which marks a goal that moves. @param {CanvasRenderingContext2D} context @param {[number, number]} place @param {number} size @param {string} colour */
export function drawRing(context, [x, y], size, colour) {
  context.beginPath();
  context.arc(x, y, size * 1.5, 0, 2 * Math.PI);
  context.lineWidth = Math.max(1.5, size * 0.5);
  context.strokeStyle = colour;
  context.stroke();
}

/** Return the radius of a unit, given the number of units. @param {Frame} frame @param {HTMLCanvasElement} canvas @param {number} units */
export function unitSize(frame, canvas, units) {
  const dot = frame.dotSize(canvas);
  return Math.max(1.6, Math.min(dot, 0.45 * dot * Math.sqrt(500 / Math.max(1, units))));
}

/** The places of units, by their colour and by whether they still walk; reused from frame to frame. */
export class UnitPlaces {
  constructor() {
    /** @type {[number, number][][]} */
    this.moving = Array.from({ length: UNIT_COLOURS }, () => []);
    /** @type {[number, number][][]} */
    this.resting = Array.from({ length: UNIT_COLOURS }, () => []);
    /** @type {Map<string, HTMLCanvasElement>} */
    this.pictures = new Map();
  }

  clear() {
    for (const places of [...this.moving, ...this.resting]) places.length = 0;
  }

  /** @param {number} group @param {boolean} rests @param {[number, number]} place */
  put(group, rests, place) {
    (rests ? this.resting : this.moving)[group]?.push(place);
  }

  /** Draw units that have arrived faintly, then those that walk. @param {CanvasRenderingContext2D} context @param {number} size @param {Colours} colours */
  draw(context, size, colours) {
    context.globalAlpha = FAINT;
    this.resting.forEach((places, k) => this.stamp(context, places, size, colours.units[k] ?? "", colours.ring, 0));
    context.globalAlpha = 1;
    this.moving.forEach((places, k) => this.stamp(context, places, size, colours.units[k] ?? "", colours.ring, size * 0.3));
  }

  /**
   * Draw dots as copies of one picture, because drawing thousands of circles takes much longer.
   * @param {CanvasRenderingContext2D} context @param {[number, number][]} places @param {number} size
   * @param {string} colour @param {string} ringColour @param {number} ring
   */
  stamp(context, places, size, colour, ringColour, ring) {
    if (places.length === 0) return;
    const key = `${size} ${colour} ${ringColour} ${ring}`;
    let picture = this.pictures.get(key);
    if (!picture) {
      if (this.pictures.size > 4 * UNIT_COLOURS) this.pictures.clear(); // the map was zoomed
      picture = document.createElement("canvas");
      picture.width = picture.height = 2 * Math.ceil(size + ring / 2) + 2;
      const middle = picture.width / 2;
      drawDots(/** @type {CanvasRenderingContext2D} */ (picture.getContext("2d")), [[middle, middle]], size, colour, ringColour, ring);
      this.pictures.set(key, picture);
    }
    const half = picture.width / 2;
    for (const [x, y] of places) context.drawImage(picture, Math.round(x - half), Math.round(y - half));
  }
}

/**
 * Return the group of each unit, and the names of the groups: one for each goal or, if there are many, each direction.
 * @param {ArrayLike<number>} goals @param {number} width @param {number} height
 * @returns {{ names: string[], of: Uint8Array, goals: number[] }}
 */
export function groupUnits(goals, width, height) {
  const different = [...new Set(Array.from(goals))];
  if (different.length <= UNIT_COLOURS) {
    const names = different.map((goal) => `to (${goal % width}, ${Math.floor(goal / width)})`);
    return { names, of: Uint8Array.from(goals, (goal) => different.indexOf(goal)), goals: different };
  }
  /** @param {number} goal */
  const direction = (goal) => {
    const angle = Math.atan2(Math.floor(goal / width) - height / 2, (goal % width) - width / 2);
    return (Math.round((angle / (2 * Math.PI)) * UNIT_COLOURS) + UNIT_COLOURS) % UNIT_COLOURS;
  };
  return { names: DIRECTIONS.map((name) => `to the ${name}`), of: Uint8Array.from(goals, direction), goals: [] };
}

// --- bars -------------------------------------------------------------------------------------------------------------

/**
 * Draw one number for each tick as bars. If several share a pixel, it shows their mean and, faintly, the highest. Bars
 * above the limit are highlighted.
 * @param {HTMLCanvasElement} canvas @param {ArrayLike<number>} values @param {number | null} limit @param {Colours} colours
 */
export function drawBars(canvas, values, limit, colours) {
  const { width, height } = sharpen(canvas, BAR_SHAPE);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const top = tallest(values, limit);
  context.clearRect(0, 0, width, height);
  /** @param {number} x @param {number} value @param {number} density */
  const bar = (x, value, density) => {
    const tall = Math.min(1, value / top) * height;
    context.globalAlpha = density;
    context.fillStyle = limit && value > OVER * limit ? colours.over : colours.bar;
    context.fillRect(x, height - tall, 1, tall);
  };
  const perPixel = values.length / width;
  for (let x = 0; x < width; x++) {
    const first = Math.floor(x * perPixel);
    const end = Math.min(values.length, Math.max(first + 1, Math.floor((x + 1) * perPixel)));
    let [most, sum] = [0, 0];
    for (let k = first; k < end; k++) {
      most = Math.max(most, values[k] ?? 0);
      sum += values[k] ?? 0;
    }
    if (end <= first) continue;
    bar(x, most, FAINT);
    bar(x, sum / (end - first), 1);
  }
  context.globalAlpha = 1;
  if (!limit) return;
  context.fillStyle = colours.ink;
  context.fillRect(0, Math.round(height * (1 - limit / top)), width, 1);
}

/** Return the value that is drawn in full height, so that the highest of a hundred is cut off. @param {ArrayLike<number>} values @param {number | null} limit */
function tallest(values, limit) {
  const sorted = Float64Array.from(values).sort();
  return Math.max(limit ? 1.2 * limit : 0, sorted[Math.floor(0.99 * (sorted.length - 1))] ?? 0) || 1;
}
