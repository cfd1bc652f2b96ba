/** Where the units of a crowd begin and where they go. */

import type { Cell } from "./engine/types";
import type { Chance } from "./world/chance";
import { regions } from "./world/generate";
import { type GridMap, passable } from "./world/map";

/** Return the free cells from which the goal can be reached. */
export function connected({ terrain, width, height }: GridMap, goal: Cell): Int32Array {
  const { label } = regions(terrain.map((character) => (passable(character) ? 1 : 0)), width, height);
  const cells: number[] = [];
  for (let cell = 0; cell < label.length; cell++) if (label[cell] === label[goal] && label[cell]! >= 0) cells.push(cell);
  return Int32Array.from(cells);
}

/** Return cells that are far from each other: each is the farthest from those before it, in a straight line. */
export function spread(cells: Int32Array, width: number, count: number): Cell[] {
  const chosen = [cells[0]!];
  const stride = Math.max(1, Math.floor(cells.length / 20_000));
  while (chosen.length < count && chosen.length < cells.length) {
    let [best, most] = [cells[0]!, -1];
    for (let k = 0; k < cells.length; k += stride) {
      const cell = cells[k]!;
      const away = Math.min(...chosen.map((other) => ((cell % width) - (other % width)) ** 2 + (Math.floor(cell / width) - Math.floor(other / width)) ** 2));
      if (away > most) [best, most] = [cell, away];
    }
    chosen.push(best);
  }
  return chosen;
}

export function shuffled(cells: Int32Array, chance: Chance): Int32Array {
  const order = cells.slice();
  for (let k = order.length - 1; k > 0; k--) {
    const other = chance.below(k + 1);
    [order[k], order[other]] = [order[other]!, order[k]!];
  }
  return order;
}
