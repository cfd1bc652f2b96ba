import type { GridMap } from "../src/world/map";

export function mapOf(rows: readonly string[], name = "map"): GridMap {
  const terrain = Uint8Array.from(rows.join(""), (character) => character.charCodeAt(0));
  return { name, width: rows[0]!.length, height: rows.length, terrain };
}
