/** Scenes that follow from another one by drawing on its map. */

import type { Cell } from "./engine/types";
import type { Scene } from "./scene";
import { GROUND, passable, WALL } from "./world/map";

/** Cells that close or open, or another start or goal. */
export interface Change {
  readonly cells?: readonly Cell[];
  readonly open?: boolean;
  readonly start?: Cell;
  readonly goal?: Cell;
}

/** Return a scene after a change, from its beginning. */
export function redrawn(scene: Scene, { cells, open, start, goal }: Change): Scene {
  let { map, recipe } = scene;
  if (cells) {
    const terrain = map.terrain.slice();
    for (const cell of cells) {
      if (passable(terrain[cell]!) !== open) terrain[cell] = open ? GROUND : WALL;
    }
    map = { ...map, terrain };
    recipe = null;
  }
  return { ...scene, map, recipe, start: start ?? scene.start, goal: goal ?? scene.goal, events: [] };
}

/** Return a scene on another terrain, from its beginning; the start moves to the goal if a wall is there now. */
export function settled(scene: Scene, terrain: Uint8Array, goal: Cell): Scene {
  const same = terrain.every((character, cell) => character === scene.map.terrain[cell]);
  const map = same ? scene.map : { ...scene.map, terrain };
  const start = passable(terrain[scene.start]!) ? scene.start : goal;
  return { ...scene, map, recipe: same ? scene.recipe : null, start, goal, events: [] };
}
