// Agents of Andante in the browser and in Node. Written by `andante export`.
//
//   const andante = await load(await (await fetch("andante.wasm")).arrayBuffer());
//   const map = andante.map(new Uint8Array(image));
//   const agent = andante.agent("@NAME@", { plan: new Uint8Array(plan), map });
//   const move = agent.move(state, goal); // { to, cost, expanded, touched, learned, stored }
//
// A library never frees memory: for another level of your game, call `load` again.

export const STUCK = @STUCK@;
export const UNREACHABLE = @UNREACHABLE@;
export const OUTCOMES = @OUTCOMES@;

const RECORDS = @RECORDS@;
const MORE = @MORE_CODE@;
const FULL = @FULL_CODE@;
const STEP_BYTES = RECORDS.STEP.bytes;
const RESULT_BYTES = Math.max(...Object.values(RECORDS).map(({ bytes }) => bytes));
const ROOM = 4096; // steps of a run that are fetched at once

/** Load the library from the bytes of andante.wasm, or a module compiled from them. */
export async function load(source) {
  const now = () => performance.now() * 1e6; // nanoseconds, for budgets in time
  const made = await WebAssembly.instantiate(source, { env: { now } });
  return new Andante((made.instance ?? made).exports);
}

class Andante {
  constructor(exports) {
    this.exports = exports;
    this.end = exports.__heap_base.value;
    this.agentBytes = exports.andante_agent_bytes();
    this.desks = new Map();
    this.names = Object.keys(exports)
      .map((name) => /^andante_(.+)_init$/.exec(name)?.[1])
      .filter((name) => name !== undefined && name !== "world" && !name.endsWith("_crowd"));
  }

  /** Return the address of this many bytes of memory. If there are no more, this throws, and nothing is reserved. */
  reserve(bytes) {
    const begin = Math.ceil(this.end / 64) * 64;
    const lacking = begin + bytes - this.exports.memory.buffer.byteLength;
    if (lacking > 0) this.exports.memory.grow(Math.ceil(lacking / 65536));
    this.end = begin + bytes;
    return begin;
  }

  view() {
    return new DataView(this.exports.memory.buffer);
  }

  /** Return a copy of this memory. */
  copy(at, bytes) {
    return new Uint8Array(this.exports.memory.buffer).slice(at, at + bytes);
  }

  /** Replace memory by what was saved. If `attach` refuses it, restore what was there before, as `save` returned it. */
  replace(at, saved, save, attach) {
    const put = (data) => new Uint8Array(this.exports.memory.buffer).set(data, at);
    const before = save();
    put(saved);
    try {
      attach();
    } catch (error) {
      put(before);
      attach();
      throw error;
    }
  }

  check(code) {
    if (code >= 0) return code;
    const memory = new Uint8Array(this.exports.memory.buffer);
    let end = this.exports.andante_error_text(code);
    let text = "";
    while (memory[end] !== 0) text += String.fromCharCode(memory[end++]);
    throw new Error(text);
  }

  /** Copy a file into memory. Agents can share it: pass what this returns instead of the file. */
  file(data) {
    if (Number.isInteger(data?.at)) return data;
    const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : data;
    if (!(bytes instanceof Uint8Array)) throw new TypeError("a file must be a Uint8Array or an ArrayBuffer");
    const at = this.reserve(bytes.length);
    new Uint8Array(this.exports.memory.buffer).set(bytes, at);
    return { at, bytes: bytes.length };
  }

  /** Return scratch memory for one move; agents with the same plan share it. */
  desk(name, plan, bytes) {
    const key = `${name} ${plan.at}`;
    if (!this.desks.has(key)) this.desks.set(key, this.reserve(bytes));
    return this.desks.get(key);
  }

  /** Open a map image. One that can change (andante export --living) becomes a map that changes. */
  map(data) {
    const { at, bytes } = this.file(data);
    const sizes = this.reserve(16);
    this.check(this.exports.andante_map_size(at, bytes, sizes, sizes + 4, sizes + 8));
    const [states, width, height] = [0, 4, 8].map((offset) => this.view().getInt32(sizes + offset, true));
    const about = { states, width, height };
    const living = this.exports.andante_world_bytes(at, bytes, sizes) === 0;
    if (!living) return new Ground(this, { ...about, at, bytes, living }, { at, bytes });
    const worldBytes = this.view().getUint32(sizes, true);
    const world = this.reserve(worldBytes);
    this.check(this.exports.andante_world_init(world, worldBytes, at, bytes));
    return new Ground(this, { ...about, at: world, bytes: worldBytes, living }, { at, bytes });
  }

  /** Make an agent. `databases` are in the order that README.md lists. */
  agent(name, { plan, map, databases = [] }) {
    if (!this.names.includes(name)) throw new Error(`there is no agent ${name}; there are ${this.names.join(", ")}`);
    return new Agent(this, name, this.file(plan), ground(map), databases.map((one) => this.file(one)));
  }

  /** Make a crowd, if this library has one (andante export --crowd); `plan` is that of the crowd. */
  crowd(name, { plan, map, databases = [] }) {
    if (this.exports[`andante_${name}_crowd_init`] === undefined) throw new Error(`there is no crowd of ${name}`);
    return new Crowd(this, name, this.file(plan), ground(map), databases.map((one) => this.file(one)));
  }
}

function ground(map) {
  if (map instanceof Ground) return map;
  throw new TypeError("map must be what the method map returned");
}

/** Return a number that is whole. Without this check WebAssembly would take undefined for 0. */
function whole(value, what, most = 2 ** 31) {
  if (Number.isInteger(value) && Math.abs(value) < most) return value;
  throw new TypeError(`${what} must be a whole number, got ${value}`);
}

function put_files(library, plan, map, databases) {
  const files = library.reserve(64);
  const put = (offset, value) => library.view().setUint32(files + offset, value, true);
  [plan.at, plan.bytes, map.at, map.bytes].forEach((value, i) => put(4 * i, value));
  databases.forEach((one, i) => {
    put(16 + 4 * i, one.at);
    put(16 + 4 * @DATABASES@ + 4 * i, one.bytes);
  });
  return files;
}

class Ground {
  constructor(library, about, image) {
    this.library = library;
    this.image = image;
    Object.assign(this, about);
  }

  /** Close a cell of a map that changes, given by its number, y * width + x. */
  close(cell) {
    this.library.check(this.library.exports.andante_close_cell(this.at, this.bytes, whole(cell, "cell")));
  }

  /** Open a cell of a map that changes. */
  open(cell) {
    this.library.check(this.library.exports.andante_open_cell(this.at, this.bytes, whole(cell, "cell")));
  }

  /** Return a copy of a map that changes, to be kept in a saved game. */
  save() {
    this.library.check(this.library.exports.andante_world_seal(this.at, this.bytes));
    return this.library.copy(this.at, this.bytes);
  }

  /** Restore a map that `save` returned; then restore the agents that walk on it. */
  restore(saved) {
    if (saved.length !== this.bytes) throw new Error("this was not saved from a map of this size");
    const { exports } = this.library;
    const { at, bytes } = this.image;
    const attach = () => this.library.check(exports.andante_world_attach(this.at, this.bytes, at, bytes));
    this.library.replace(this.at, saved, () => this.save(), attach);
  }
}

class Agent {
  constructor(library, name, plan, map, databases) {
    this.library = library;
    this.name = name;
    this.files = put_files(library, plan, map, databases);
    this.at = library.reserve(library.agentBytes);
    this.result = library.reserve(RESULT_BYTES);
    library.check(this.call("bytes", this.files, this.result, this.result + 4));
    this.mindBytes = library.view().getUint32(this.result, true);
    this.deskBytes = library.view().getUint32(this.result + 4, true);
    this.mind = library.reserve(this.mindBytes);
    this.desk = library.desk(name, plan, this.deskBytes);
    library.check(this.set("init"));
  }

  call(what, ...rest) {
    return this.library.exports[`andante_${this.name}_${what}`](...rest);
  }

  set(what) {
    return this.call(what, this.at, this.files, this.mind, this.mindBytes, this.desk, this.deskBytes);
  }

  /** Make one move from `state` towards `goal`. */
  move(state, goal) {
    this.library.check(this.call("move", this.at, whole(state, "state"), whole(goal, "goal"), this.result));
    return record(this.library.view(), this.result, RECORDS.MOVE);
  }

  /** Move the goal of `move`; return whether the agent keeps what it knows. */
  retarget(goal) {
    this.library.check(this.call("retarget", this.at, whole(goal, "goal"), this.result));
    return this.library.view().getInt32(this.result, true) !== 0;
  }

  /** Walk from `start` to `goal`. A limit of 0 is no limit. Without limits the run ends after a million moves. */
  run(start, goal, limits) {
    this.steps ??= this.library.reserve(ROOM * STEP_BYTES);
    let given = 0;
    if (limits !== undefined) {
      this.limits ??= this.library.reserve(RECORDS.LIMITS.bytes);
      given = this.limits;
      const chosen = Object.entries(limits).filter(([, limit]) => limit !== Infinity);
      write(this.library.view(), given, RECORDS.LIMITS, Object.fromEntries(chosen));
    }
    const path = [whole(start, "start")];
    let code = this.call("run", this.at, start, whole(goal, "goal"), given, this.steps, ROOM, this.result);
    for (;;) {
      this.library.check(code);
      const view = this.library.view();
      const written = record(view, this.result, RECORDS.TRIAL).steps;
      for (let i = 0; i < written; i++) path.push(number(view, this.steps + i * STEP_BYTES));
      if (code !== MORE) break;
      code = this.call("go_on", this.at, this.steps, ROOM, this.result);
    }
    const { outcome, cost, moves, expanded } = record(this.library.view(), this.result, RECORDS.TRIAL);
    return { outcome: OUTCOMES[outcome], path, cost, moves, expanded };
  }

  /** Let the next `move` begin a new problem. */
  forget() {
    this.library.check(this.call("forget", this.at));
  }

  /** Return a copy of the agent's mind, to be kept in a saved game. */
  save() {
    this.library.check(this.call("seal", this.at));
    return this.library.copy(this.mind, this.mindBytes);
  }

  /** Restore a mind that `save` returned. */
  restore(mind) {
    if (mind.length !== this.mindBytes) throw new Error("this was not saved from such an agent");
    this.library.replace(this.mind, mind, () => this.save(), () => this.library.check(this.set("attach")));
  }
}

class Crowd {
  constructor(library, name, plan, map, databases) {
    this.library = library;
    this.name = name;
    this.others = [map, databases]; // all files but the plan
    this.at = library.reserve(library.agentBytes);
    this.result = library.reserve(RESULT_BYTES);
    this.budget = library.reserve(RECORDS.BUDGET.bytes);
    this.open("init", plan);
  }

  open(how, plan) {
    const files = put_files(this.library, plan, ...this.others);
    this.check("bytes", files, this.result);
    const bytes = this.library.view().getUint32(this.result, true);
    const memory = this.library.reserve(bytes);
    this.check(how, this.at, files, memory, bytes);
    Object.assign(this, { files, bytes, memory });
  }

  /** Continue with more memory: `plan` is that of a larger crowd (andante export --grow). */
  grow(plan) {
    this.open("grow", this.library.file(plan));
  }

  check(what, ...rest) {
    return this.library.check(this.library.exports[`andante_${this.name}_crowd_${what}`](...rest));
  }

  /** Add a unit, and return its number. */
  add(start, goal, priority = 1) {
    this.check("add", this.at, whole(start, "start"), whole(goal, "goal"), priority, this.result);
    return this.library.view().getInt32(this.result, true);
  }

  /** Give a unit a new goal. */
  send(unit, goal) {
    this.check("send", this.at, whole(unit, "unit"), whole(goal, "goal"));
  }

  /** Put a unit somewhere else. */
  put(unit, state) {
    this.check("put", this.at, whole(unit, "unit"), whole(state, "state"));
  }

  /** Remove a unit; its number is used again. */
  remove(unit) {
    this.check("remove", this.at, whole(unit, "unit"));
  }

  /** Return the state of a unit, and what it has done so far. */
  unit(unit) {
    this.check("unit", this.at, whole(unit, "unit"), this.result);
    const about = record(this.library.view(), this.result, RECORDS.ABOUT_UNIT);
    return { ...about, outcome: OUTCOMES[about.outcome] };
  }

  /** Return x and y of all units, by number, as one array: [x0, y0, x1, y1, ...]. Both are -1 for removed ones. */
  cells() {
    this.check("cells", this.at, this.result, this.result + 4);
    const view = this.library.view();
    const [at, count] = [view.getUint32(this.result, true), view.getInt32(this.result + 4, true)];
    return new Int32Array(view.buffer, at, 2 * count).slice();
  }

  /** Return a copy of all memory of the crowd, to be kept in a saved game. */
  save() {
    this.check("seal", this.at);
    return this.library.copy(this.memory, this.bytes);
  }

  /** Restore what `save` returned; the crowd must have the size, by `grow`, that it had then. */
  restore(memory) {
    if (memory.length !== this.bytes) throw new Error("this was not saved from a crowd of this size");
    const attach = () => this.check("attach", this.at, this.files, this.memory, this.bytes);
    this.library.replace(this.memory, memory, () => this.save(), attach);
  }

  /**
   * Let every unit move at most once, until the budget is spent; without a budget, let every unit move. With
   * `pauseWhenFull` no unit forgets when memory is full: if the result is `full`, let the crowd grow, and call tick
   * again with the same budget.
   */
  tick({ expansions = 0, microseconds = 0, pauseWhenFull = false } = {}) {
    const clock = 1; // the import env.now
    const budget = { expansions, nanoseconds: microseconds * 1000, clock, pause_when_full: pauseWhenFull ? 1 : 0 };
    write(this.library.view(), this.budget, RECORDS.BUDGET, budget);
    const full = this.check("tick", this.at, this.budget, this.result) === FULL;
    return { full, ...record(this.library.view(), this.result, RECORDS.TICK) };
  }
}

/** Read a whole number of 64 bits, as far as JavaScript's numbers are exact. */
function number(view, at) {
  return view.getUint32(at, true) + view.getInt32(at + 4, true) * 4294967296;
}

/** Write a record of the C header; what is not given is 0. */
function write(view, at, { fields }, values) {
  for (const [name, [offset, type]] of Object.entries(fields)) {
    const value = values[name] ?? 0;
    if (type === "float64") view.setFloat64(at + offset, value, true);
    else if (type === "int32") view.setInt32(at + offset, value, true);
    else view.setBigInt64(at + offset, BigInt(whole(value, name, 2 ** 53)), true);
  }
}

/** Read a record of the C header. */
function record(view, at, { fields }) {
  const read = { int32: (place) => view.getInt32(place, true), float64: (place) => view.getFloat64(place, true) };
  const values = Object.entries(fields).map(([name, [offset, type]]) => [
    name,
    type === "int64" ? number(view, at + offset) : read[type](at + offset),
  ]);
  return Object.fromEntries(values);
}
