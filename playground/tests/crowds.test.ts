// Compares crowds in the engine with those in Python, tick by tick. tests/playground/test_engine.py calls this.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { loadEngine, OUTCOMES } from "../src/engine/index";

interface Case {
  engine: string;
  scene: string | null;
  map: { width: number; height: number; rows: string[] };
  crowds: {
    algorithm: string;
    bodies: boolean;
    units: [number, number][]; // start and goal
    ticks: {
      expansions: number; // budget; 0: none
      edits: [number[], boolean][];
      sent: [number, number][]; // unit and goal
      states: number[];
      outcomes: string[];
      spent: number;
    }[];
  }[];
}

const file = process.env["ANDANTE_CROWDS"];

describe.skipIf(file === undefined)("crowds as in Python (ANDANTE_CROWDS)", async () => {
  if (file === undefined) return;
  const given = JSON.parse(readFileSync(file, "utf8")) as Case;
  const engine = await loadEngine(readFileSync(given.engine), given.scene === null ? undefined : readFileSync(given.scene));
  for (const crowd of given.crowds) {
    test(`${crowd.algorithm}${crowd.bodies ? " with bodies" : ""}`, () => {
      const before = engine.memory().used;
      const { width, height, rows } = given.map;
      const world = engine.world({ width, height, passable: Uint8Array.from(rows.join(""), (one) => (one === "." ? 1 : 0)) });
      const made = engine.crowd(world, crowd.algorithm, { units: crowd.units.length, bodies: crowd.bodies });
      for (const [start, goal] of crowd.units) made.add(start, goal);
      crowd.ticks.forEach((expected, i) => {
        for (const [cells, open] of expected.edits) world.edit(cells, open);
        for (const [unit, goal] of expected.sent) made.send(unit, goal);
        const { expansions } = made.tick(expected.expansions > 0 ? { expansions: expected.expansions } : {});
        expect([...made.states()], `states after tick ${i}`).toEqual(expected.states);
        expect([...made.outcomes()].map((one) => OUTCOMES[one]), `outcomes after tick ${i}`).toEqual(expected.outcomes);
        expect(expansions, `expansions of tick ${i}`).toBe(expected.spent);
      });
      made.dispose();
      world.dispose();
      expect(engine.memory().used).toBe(before);
    });
  }
});
