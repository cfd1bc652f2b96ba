// Let a crowd tick, and print what happened: node crowd.mjs FOLDER TASK.json
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [folder, task] = process.argv.slice(2);
const { load } = await import(pathToFileURL(`${folder}/wasm/andante.mjs`));
const bytes = async (name) => new Uint8Array(await readFile(`${folder}/${name}`));
const andante = await load(await bytes("wasm/andante.wasm"));
const { name, place, pairs, budgets } = JSON.parse(await readFile(task));
const map = andante.map(await bytes(`data/${place}.image`));
const crowd = andante.crowd(name, { plan: await bytes(`data/${place}.${name}.crowd`), map });
const units = pairs.map(([start, goal]) => crowd.add(start, goal));
const ticks = budgets.map((expansions) => {
  const tick = crowd.tick({ expansions });
  return [tick.moved, tick.waiting, tick.arrived, tick.expansions, units.map((unit) => crowd.unit(unit).state)];
});
const timed = crowd.tick({ microseconds: 1e6 });
console.log(JSON.stringify({ names: andante.names, ticks, waiting: timed.waiting }));
