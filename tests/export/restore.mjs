// Save and restore an agent and its map, intact and damaged: node restore.mjs FOLDER FOLDER/data/PLACE START GOAL
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [folder, place, ...ends] = process.argv.slice(2);
const [start, goal] = ends.map(Number);
const { load } = await import(pathToFileURL(`${folder}/wasm/andante.mjs`));
const bytes = async (name) => new Uint8Array(await readFile(name));
const andante = await load(await bytes(`${folder}/wasm/andante.wasm`));
const map = andante.map(await bytes(`${place}.image`));
const agent = andante.agent("lrta", { plan: await bytes(`${place}.lrta.plan`), map });

function walk(state, count) {
  const path = [];
  for (let i = 0; i < count && state !== goal; i++) {
    state = agent.move(state, goal).to;
    path.push(state);
  }
  return path;
}

function damaged(data) {
  const copy = data.slice();
  copy[copy.length - 9] ^= 4;
  return copy;
}

const here = walk(start, 4).at(-1);
const saved = { map: map.save(), mind: agent.save() };
map.close(walk(here, 2).at(-1) + 1);
const walked = walk(start, 10);
map.restore(saved.map);
agent.restore(saved.mind);
map.close(walk(here, 2).at(-1) + 1);
const again = walk(start, 10);

const refused = [];
const undamaged = { map: map.save(), mind: agent.save() };
for (const [name, restore] of [
  ["mind", () => agent.restore(damaged(saved.mind))],
  ["map", () => map.restore(damaged(saved.map))],
  ["no cell", () => map.close(undefined)],
  ["half a cell", () => agent.move(start + 0.5, goal)],
  ["no file", () => andante.agent("lrta", { plan: undefined, map })],
  ["too much memory", () => andante.reserve(2 ** 33)],
]) {
  try {
    restore();
  } catch {
    refused.push(name);
  }
}
const before = { map: [...undamaged.map], mind: [...undamaged.mind] };
const after = { map: [...map.save()], mind: [...agent.save()] };
console.log(JSON.stringify({ refused, walked, again, damaged: after, undamaged: before }));
