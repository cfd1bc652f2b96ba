/** Compares maps and map files with those of Python; tests/playground/test_rules.py writes the cases. */

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { seedWords } from "../src/world/chance";
import { generate, type Recipe } from "../src/world/generate";
import { parseMap } from "../src/world/map";

interface Cases {
  seeds: [number, number[]][];
  generated: { recipe: Recipe; name: string; terrain: string }[];
  files: { bytes: string; error: string | null; terrain: string }[];
}

const file = process.env.ANDANTE_CASES;
const cases: Cases = file ? JSON.parse(readFileSync(file, "utf8")) : { seeds: [], generated: [], files: [] };
const text = (terrain: Uint8Array): string => Buffer.from(terrain).toString("latin1");

describe.skipIf(!file)("as in Python", () => {
  it("seeds", () => {
    for (const [seed, words] of cases.seeds) expect(seedWords(seed)).toEqual(words);
  });

  it("generated maps", () => {
    for (const { recipe, name, terrain } of cases.generated) {
      const map = generate(recipe);
      expect(map.name).toBe(name);
      expect(text(map.terrain) === terrain, `${name} has other cells`).toBe(true);
    }
  });

  it("map files", () => {
    for (const { bytes, error, terrain } of cases.files) {
      let said: string | null = null;
      let read = "";
      try {
        read = text(parseMap(new Uint8Array(Buffer.from(bytes, "base64")), "some.map").terrain);
      } catch (fault) {
        said = (fault as Error).message;
      }
      expect({ bytes, said, read }).toEqual({ bytes, said: error, read: terrain });
    }
  });
});
