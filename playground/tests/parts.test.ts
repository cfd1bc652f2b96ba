import { describe, expect, it } from "vitest";
import { Column } from "../src/column";
import { canonical, walls } from "../src/keep/trace";
import { python } from "../src/keep/python";
import { compose, parse } from "../src/notation";
import { fromFragment, type Scene, toFragment } from "../src/scene";
import { strokeCells } from "../src/view/board";
import { generate, regions } from "../src/world/generate";
import { mapText, parseMap } from "../src/world/map";
import { mapOf } from "./maps";
import { naiveEngine } from "./naive";

describe("columns", () => {
  it("grow, are shortened and searched", () => {
    const column = new Column(Int32Array);
    column.append(Array.from({ length: 500 }, (_, k) => Math.floor(k / 2)));
    column.push(1000);
    expect([column.length, column.at(500), column.countUpTo(3), column.countUpTo(-1)]).toEqual([501, 1000, 8, 0]);
    column.truncate(2);
    expect([...column.view()]).toEqual([0, 0]);
  });
});

describe("maps", () => {
  it("are read as they were written", () => {
    const map = mapOf(["..@T", "GSWO", "...."], "tiny");
    expect(parseMap(new TextEncoder().encode(mapText(map)), "tiny.map")).toEqual(map);
  });

  it.each(["rooms", "caves", "maze", "random", "empty"])("of the kind %s have their size, and the same seed makes the same", (kind) => {
    const recipe = { kind, width: 50, height: 37, seed: 5, options: {} };
    const map = generate(recipe);
    expect(map.terrain.length).toBe(50 * 37);
    expect(generate(recipe)).toEqual(map);
    const free = map.terrain.map((character) => (character === 46 ? 1 : 0));
    if (kind !== "random") expect(regions(free, 50, 37).sizes.length).toBe(1);
  });
});

describe("the notation", () => {
  const [card] = naiveEngine.cards;
  it("is split and composed, without parameters at their defaults", () => {
    const { name, values } = parse("lrta(depth=3, quota=inf, ties=last, lazy=true)", naiveEngine.cards);
    expect([name, ...values.values()]).toEqual(["lrta", 3, Infinity, "last", true]);
    expect(compose(card!, values)).toBe("lrta(depth=3, quota=inf, ties=last, lazy=true)");
    expect(compose(card!, new Map([["depth", 1], ["quota", null]]))).toBe("lrta");
  });
});

describe("a link", () => {
  const scene: Scene = {
    mode: "race",
    map: mapOf(["....", ".@@.", "...."], "mine"),
    recipe: null,
    start: 0,
    goal: 11,
    agents: ["lrta", "lrta(depth=3)"],
    sight: 5,
    layout: "one",
    raceBudget: 64,
    speed: 16,
    events: [{ beat: 3, cells: [1, 2], open: false }, { beat: 5, goal: 4 }],
    crowd: { notation: "lrta", units: 1000, errand: "streams", endless: true, bodies: false, budget: null },
  };

  it("contains the whole scene", async () => {
    expect(await fromFragment(await toFragment(scene), naiveEngine)).toEqual(scene);
    const recipe = { kind: "rooms", width: 40, height: 30, seed: 9, options: { size: 8 } };
    const made = { ...scene, map: generate(recipe), recipe, events: [], start: 0, goal: 1 };
    expect(await fromFragment(await toFragment(made), naiveEngine)).toEqual(made);
  });

  it.each([
    ["nonsense!", /does not contain a complete scene/],
    ["AAAA", /does not contain a complete scene/],
  ])("without a scene is refused: %s", async (fragment, message) => {
    await expect(fromFragment(fragment, naiveEngine)).rejects.toThrow(message);
  });

  it.each([
    [{ mode: "fly" }, /its mode/],
    [{ start: 5 }, /start on a blocked cell/],
    [{ goal: 99 }, /the goal/],
    [{ agents: ["lrta", "walker"] }, /no algorithm 'walker'/],
    [{ agents: Array(7).fill("lrta") }, /agents/],
    [{ speed: NaN }, /the speed/],
    [{ events: [{ beat: 0, goal: 1 }] }, /a beat/],
    [{ events: [{ beat: 1, cells: [-1], open: true }] }, /a cell/],
    [{ crowd: { ...scene.crowd, units: 1e9 } }, /number of units/],
  ])("with something wrong in it is refused: %j", async (part, message) => {
    const bad = await toFragment({ ...scene, ...part } as Scene);
    await expect(fromFragment(bad, naiveEngine)).rejects.toThrow(message);
  });

  it("is written as Python", () => {
    expect(python({ ...scene, mode: "walk", agents: ["lrta"] }, naiveEngine)).toMatch(/\(3, 2\)\), sight=5\)$/);
    expect(python({ ...scene, mode: "walk", agents: ["lrta"], sight: null }, naiveEngine)).toBe('import andante\ntrial = andante.run("lrta", andante.read_map("mine.map").problem((0, 0), (3, 2)))');
  });
});

describe("traces", () => {
  it("have the checksum of the JSON that Python writes", () => {
    expect(canonical({ b: [1, 2.5, null], a: "ü\n", c: true })).toBe('{"a":"\\u00fc\\n","b":[1,2.5,null],"c":true}');
  });

  it("have walls as rectangles that cover them exactly", () => {
    const map = mapOf(["@@..@", "@@.@@", "..@@@", "@@@@@"]);
    const covered = new Uint8Array(map.terrain.length);
    for (const [x, y, wide, high] of walls(map) as [number, number, number, number][]) {
      for (let row = y; row < y + high; row++) for (let column = x; column < x + wide; column++) covered[row * map.width + column]!++;
    }
    expect([...covered]).toEqual([...map.terrain].map((character) => (character === 64 ? 1 : 0)));
  });
});

describe("a brush", () => {
  it("leaves no gap, and stays on the map", () => {
    const cells = strokeCells(10, 10, 0, 99, 1);
    expect(cells).toEqual(Array.from({ length: 10 }, (_, k) => 11 * k));
    expect(Math.max(...strokeCells(10, 10, 95, 99, 5))).toBe(99);
    expect(strokeCells(10, 10, 5, -1, 3)).toEqual([]);
  });
});
