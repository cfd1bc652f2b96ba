// Compares outdated entries of databases with those that Python finds. tests/playground/test_engine.py writes the file.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { loadEngine } from "../src/engine/index";

interface Case {
  engine: string;
  scene: string;
  map: { width: number; height: number; rows: string[] };
  closed: number[];
  goal: number;
  stale: Record<string, number[]>; // by agent
}

const file = process.env["ANDANTE_STALE"];

describe.skipIf(file === undefined)("stale entries as in Python (ANDANTE_STALE)", async () => {
  if (file === undefined) return;
  const { engine: code, scene, map, closed, goal, stale } = JSON.parse(readFileSync(file, "utf8")) as Case;
  const engine = await loadEngine(readFileSync(code), readFileSync(scene));
  const passable = Uint8Array.from(map.rows.join(""), (one) => (one === "." ? 1 : 0));
  const edited = passable.slice();
  for (const cell of closed) edited[cell] = 0;
  test.each(Object.entries(stale))("%s", (name, expected) => {
    const world = engine.world({ ...map, passable }, [name]);
    const agent = engine.agent(world, name, expected[0]!, goal);
    expect(agent.stale(passable, goal)).toBe(null);
    const marked = agent.stale(edited, goal)!;
    expect(Array.from(marked.keys()).filter((cell) => marked[cell] === 1)).toEqual(expected);
    agent.dispose();
    world.dispose();
  });
});
