// Let a crowd do what a script says, and print what its ticks said: node crowd.mjs FOLDER TASK.json
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [folder, task] = process.argv.slice(2);
const { load } = await import(pathToFileURL(`${folder}/wasm/andante.mjs`));
const bytes = async (name) => new Uint8Array(await readFile(`${folder}/${name}`));
const andante = await load(await bytes("wasm/andante.wasm"));
const { name, place, script, units: asked } = JSON.parse(await readFile(task));
const map = andante.map(await bytes(`data/${place}.image`));
const crowd = andante.crowd(name, { plan: await bytes(`data/${place}.${name}.crowd`), map });
const ticks = [];
for (const [what, ...rest] of script) {
  if (what === "edit") rest[1] ? map.open(rest[0]) : map.close(rest[0]);
  else if (what === "tick") ticks.push({ ...crowd.tick({ expansions: rest[0] }), cells: [...crowd.cells()] });
  else crowd[what](...rest);
}
const units = asked.map((unit) => crowd.unit(unit));
const timed = crowd.tick({ microseconds: 1e6 });
console.log(JSON.stringify({ names: andante.names, ticks, units, waiting: timed.waiting }));
