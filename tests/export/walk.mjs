// Run the tasks of a JSON file, and print the moves: node walk.mjs FOLDER TASKS.json
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [folder, tasks] = process.argv.slice(2);
const { load } = await import(pathToFileURL(`${folder}/wasm/andante.mjs`));
const bytes = async (name) => new Uint8Array(await readFile(`${folder}/${name}`));
const andante = await load(await bytes("wasm/andante.wasm"));
const found = [];
for (const { agent: name, place, databases, problems, edits = [] } of JSON.parse(await readFile(tasks))) {
  const map = andante.map(await bytes(`data/${place}.image`));
  const files = await Promise.all(databases.map((file) => bytes(`data/${file}`)));
  const agent = andante.agent(name, { plan: await bytes(`data/${place}.${name}.plan`), map, databases: files });
  const trials = problems.map(([start, goal]) => agent.run(start, goal, { moves: 5000 }));
  const moves = [];
  let [state, goal] = problems[0];
  for (let i = 0; i < 40 && state !== goal; i++) {
    for (const [when, cell, opened] of edits) if (when === i) opened ? map.open(cell) : map.close(cell);
    if (i === 20) agent.restore(agent.save());
    const move = agent.move(state, goal);
    moves.push([move.to, move.cost, move.expanded, move.touched, move.learned, move.stored]);
    if (move.to < 0) break;
    state = move.to;
  }
  found.push({ trials, moves });
}
console.log(JSON.stringify(found));
