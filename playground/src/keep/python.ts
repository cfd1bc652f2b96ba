/** The lines of Python that do what the page shows. */

import type { Engine } from "../engine/types";
import type { Scene } from "../scene";
import { pythonOf } from "../world/generate";
import type { GridMap } from "../world/map";

export function python(scene: Scene, engine: Engine): string {
  const { map, recipe, mode } = scene;
  const grid = recipe ? pythonOf(recipe) : `andante.read_map("${fileName(map)}.map")`;
  const at = (cell: number): string => `(${cell % map.width}, ${Math.floor(cell / map.width)})`;
  if (mode === "crowd") {
    const { notation, bodies, budget } = scene.crowd;
    return [
      "import andante",
      `crowd = andante.Crowd("${notation}", ${grid}${bodies ? ", bodies=True" : ""})`,
      `unit = crowd.add(${at(scene.start)}, ${at(scene.goal)})  # and so on`,
      budget === null ? "tick = crowd.tick()" : `tick = crowd.tick(expansions=${budget})`,
    ].join("\n");
  }
  const databases = databasesOf(scene.agents, engine);
  const more = `${databases.length > 0 ? ", databases=databases" : ""}${scene.sight === null ? "" : `, sight=${scene.sight}`}`;
  const ends = `(${at(scene.start)}, ${at(scene.goal)})`;
  const lines = ["import andante"];
  if (databases.length > 0) {
    lines.push(`grid = ${grid}`, `databases = [${databases.map((text) => `andante.build("${text}", grid)`).join(", ")}]`);
  }
  const problem = `${databases.length > 0 ? "grid" : grid}.problem${ends}`;
  if (scene.agents.length === 1) return [...lines, `trial = andante.run("${scene.agents[0]}", ${problem}${more})`].join("\n");
  const names = scene.agents.map((name) => `"${name}"`).join(", ");
  return [...lines, `problem = ${problem}`, `trials = [andante.run(agent, problem${more}) for agent in (${names})]`].join("\n");
}

/** How the databases of the page are built that some agents look things up in. */
function databasesOf(agents: readonly string[], engine: Engine): string[] {
  const named = (notation: string): string => /^[\w-]+/.exec(notation)?.[0] ?? "";
  const kinds = agents.flatMap((notation) => engine.cards.find(({ name }) => name === named(notation))?.needs ?? []);
  return (engine.given?.databases ?? []).filter(({ kind }) => kinds.includes(kind)).map(({ about }) => about);
}

/** Return a map's name as a valid file name. */
export function fileName({ name }: GridMap): string {
  return name.replace(/[^\w.-]+/g, "-").slice(0, 80) || "map";
}
