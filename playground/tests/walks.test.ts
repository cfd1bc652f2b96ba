// Compares walks in the engine with those in Python, move by move. tests/playground/test_engine.py calls this.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Engine, loadEngine, type World } from "../src/engine/index";

interface Walk {
  algorithm: string;
  map: number;
  start: number;
  goal: number;
  edits: Record<string, [number[], boolean][]>; // before the move of this number: cells, and whether they open
  goals: Record<string, number>; // before the move of this number the goal moves
  thinks: boolean;
  sight: number | null;
  /** Of each move: to, cost, expanded, touched, learned, stored; with thoughts: kinds, cells, values. */
  moves: [number, number, number, number, number, number][];
  thoughts: [number[], number[], number[]][];
}

interface Case {
  engine: string;
  scene: string | null;
  maps: { width: number; height: number; rows: string[] }[];
  walks: Walk[];
}

const file = process.env["ANDANTE_WALKS"];

describe.skipIf(file === undefined)("walks as in Python (ANDANTE_WALKS)", async () => {
  if (file === undefined) return;
  const given = JSON.parse(readFileSync(file, "utf8")) as Case;
  const engine = await loadEngine(readFileSync(given.engine), given.scene === null ? undefined : readFileSync(given.scene));
  const worldOf = (index: number, agent: string): World => {
    const { width, height, rows } = given.maps[index]!;
    return engine.world({ width, height, passable: Uint8Array.from(rows.join(""), (one) => (one === "." ? 1 : 0)) }, [agent]);
  };
  for (const [number, walk] of given.walks.entries()) {
    test(`${number}: ${walk.algorithm} on map ${walk.map}`, () => {
      const before = engine.memory().used;
      const world = worldOf(walk.map, walk.algorithm);
      compare(engine, world, walk);
      world.dispose();
      expect(engine.memory().used).toBe(before);
    });
  }
});

function compare(engine: Engine, world: World, walk: Walk): void {
  const agent = engine.agent(world, walk.algorithm, walk.start, walk.goal, walk.sight);
  walk.moves.forEach((expected, i) => {
    for (const [cells, open] of walk.edits[i] ?? []) world.edit(cells, open);
    if (walk.goals[i] !== undefined) agent.retarget(walk.goals[i]);
    const made = agent.step({ thoughts: walk.thinks });
    const found = [made.to, made.cost, made.expanded, made.touched, made.learned, made.stored];
    expect(found, `move ${i} of ${agent.notation}`).toEqual(expected);
    if (walk.thinks && made.thoughts !== null) {
      const { kind, cell, value } = made.thoughts;
      expect([[...kind], [...cell], [...value]], `thoughts of move ${i} of ${agent.notation}`).toEqual(walk.thoughts[i]);
    }
  });
  if (Object.keys(walk.edits).length === 0 && Object.keys(walk.goals).length === 0) goBack(agent, walk);
  agent.dispose();
}

/** Save half-way, continue, restore, and make the same moves again. */
function goBack(agent: ReturnType<Engine["agent"]>, walk: Walk): void {
  const half = Math.floor(walk.moves.length / 2);
  agent.reset(walk.start, walk.goal);
  for (let i = 0; i < half; i++) agent.step();
  const saved = agent.save();
  const rest = (): number[] => walk.moves.slice(half).map(() => agent.step().to);
  const once = rest();
  agent.restore(saved);
  expect(rest()).toEqual(once);
  expect(once).toEqual(walk.moves.slice(half).map(([to]) => to));
}
