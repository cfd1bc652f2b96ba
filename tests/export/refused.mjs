// Give a grown crowd plans that it cannot grow into, then save and restore it: node refused.mjs FOLDER PLACE NAME STARTS GOALS
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [folder, place, name, ...ends] = process.argv.slice(2);
const { load } = await import(pathToFileURL(`${folder}/wasm/andante.mjs`));
const bytes = async (file) => new Uint8Array(await readFile(`${folder}/${file}`));
const andante = await load(await bytes("wasm/andante.wasm"));
const map = andante.map(await bytes(`data/${place}.image`));
const small = await bytes(`data/${place}.${name}.crowd`);
const crowd = andante.crowd(name, { plan: small, map });
const count = ends.length / 2;
for (let i = 0; i < count; i++) crowd.add(Number(ends[i]), Number(ends[count + i]));
crowd.tick();
crowd.grow(await bytes(`data/${place}.${name}.crowd2`));
const saved = crowd.save();
const walk = () => [1, 2, 3].map(() => ({ ...crowd.tick(), cells: [...crowd.cells()] }));
const before = walk();
crowd.restore(saved);
let refused = 0;
for (const plan of [small, await bytes(`data/${place}.${name}.plan`)]) {
  try {
    crowd.grow(plan);
  } catch {
    refused++;
  }
}
crowd.restore(crowd.save());
console.log(JSON.stringify({ refused, before, after: walk() }));
