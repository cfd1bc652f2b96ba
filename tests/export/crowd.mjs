// Run a script with a crowd, and print the results of its ticks: node crowd.mjs FOLDER TASK.json
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [folder, task] = process.argv.slice(2);
const { load } = await import(pathToFileURL(`${folder}/wasm/andante.mjs`));
const bytes = async (name) => new Uint8Array(await readFile(`${folder}/${name}`));
const andante = await load(await bytes("wasm/andante.wasm"));
const { name, place, script, units: asked = [], larger = [] } = JSON.parse(await readFile(task));
const map = andante.map(await bytes(`data/${place}.image`));
const crowd = andante.crowd(name, { plan: await bytes(`data/${place}.${name}.crowd`), map });
const ticks = [];
let grown = 0;
for (const [what, ...rest] of script) {
  if (what === "edit") rest[1] ? map.open(rest[0]) : map.close(rest[0]);
  else if (what === "reload") crowd.restore(crowd.save());
  else if (what === "tick") {
    const budget = { expansions: rest[0], pauseWhenFull: grown < larger.length };
    let { full, ...tick } = crowd.tick(budget);
    while (full) {
      crowd.grow(await bytes(`data/${place}.${name}.crowd${larger[grown++]}`));
      ({ full, ...tick } = crowd.tick(budget));
    }
    ticks.push({ ...tick, cells: [...crowd.cells()] });
  } else crowd[what](...rest);
}
const units = asked.map((unit) => crowd.unit(unit));
const timed = crowd.tick({ microseconds: 1e6 });
console.log(JSON.stringify({ names: andante.names, ticks, units, grown, waiting: timed.waiting }));
