/** The first scene of the page: that of its link, or a default one. */

import type { Cell, Engine } from "./engine/types";
import { EngineError } from "./engine/types";
import { fromFragment, type Scene, SceneError } from "./scene";
import { generate, type Recipe, regions } from "./world/generate";
import { type GridMap, GROUND, MapError, passable, WALL } from "./world/map";

const FIRST_AGENTS = ["lrta", "lss", "tba"];

/** Return the scene in the page's address; report a link without one. */
export async function sceneOfLink(engine: Engine, say: (text: string) => void): Promise<Scene | null> {
  const fragment = location.hash.slice(1);
  if (!fragment) return null;
  try {
    return await fromFragment(fragment, engine);
  } catch (error) {
    if (!(error instanceof SceneError || error instanceof EngineError || error instanceof MapError)) throw error;
    say(error.message);
    return null;
  }
}

export function firstScene(engine: Engine): Scene {
  const known = FIRST_AGENTS.filter((name) => engine.cards.some((card) => card.name === name));
  const agents = known.length > 0 ? known : [engine.cards[0]!.name];
  const recipe: Recipe = { kind: "caves", width: 96, height: 72, seed: 4, options: { rock: 0.48, scale: 2 } };
  const map = engine.given ? givenMap(engine.given) : generate(recipe);
  const crowd = engine.cards.find((card) => card.crowd && card.name === "lrta") ?? engine.cards.find((card) => card.crowd);
  return {
    mode: "walk",
    map,
    recipe: engine.given ? null : recipe,
    ...(farApart(map) ?? { start: 0, goal: 0 }),
    agents,
    sight: null,
    layout: "tiles",
    raceBudget: 64,
    speed: 16,
    events: [],
    crowd: { notation: crowd?.name ?? agents[0]!, units: 1000, errand: "streams", endless: true, bodies: false, budget: 4096 },
  };
}

export function givenMap({ name, width, height, passable: free }: NonNullable<Engine["given"]>): GridMap {
  return { name, width, height, terrain: Uint8Array.from(free, (cell) => (cell ? GROUND : WALL)) };
}

/** Return a start and a goal in the largest region, far from each other in a straight line. */
export function farApart({ terrain, width, height }: GridMap): { start: Cell; goal: Cell } | null {
  const { label, sizes } = regions(terrain.map((character) => (passable(character) ? 1 : 0)), width, height);
  const largest = sizes.indexOf(Math.max(...sizes));
  if (sizes.length === 0 || sizes[largest]! < 2) return null;
  let [start, goal, least, most] = [0, 0, Infinity, -Infinity];
  for (let cell = 0; cell < label.length; cell++) {
    if (label[cell] !== largest) continue;
    const sum = (cell % width) / width + Math.floor(cell / width) / height;
    if (sum < least) [start, least] = [cell, sum];
    if (sum > most) [goal, most] = [cell, sum];
  }
  return { start, goal };
}
