/** The lines of Python that do what the page shows. */

import type { Scene } from "../scene";
import { pythonOf } from "../world/generate";
import type { GridMap } from "../world/map";

export function python(scene: Scene): string {
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
  const problem = `${grid}.problem(${at(scene.start)}, ${at(scene.goal)})`;
  const sight = scene.sight === null ? "" : `, sight=${scene.sight}`;
  if (scene.agents.length === 1) return `import andante\ntrial = andante.run("${scene.agents[0]}", ${problem}${sight})`;
  const names = scene.agents.map((name) => `"${name}"`).join(", ");
  return `import andante\nproblem = ${problem}\ntrials = [andante.run(agent, problem${sight}) for agent in (${names})]`;
}

/** Return a map's name as a valid file name. */
export function fileName({ name }: GridMap): string {
  return name.replace(/[^\w.-]+/g, "-").slice(0, 80) || "map";
}
