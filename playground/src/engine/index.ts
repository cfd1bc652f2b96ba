// The engine: agents of Andante in the page. Its interface is in types.ts.

import { type AboutEngine, type AboutLevels, type AboutScene, cardsOf, type Held, read, type Recipe, unpacked } from "./about";
import { Walker } from "./agent";
import { type Home, Mind, variantOf } from "./mind";
import { MarchingCrowd } from "./crowd";
import { contents, type Database, type Known } from "./files";
import { Module } from "./module";
import { normal, type Setting, understood } from "./notation";
import {
  type Card,
  type Cell,
  type Crowd,
  type CrowdOptions,
  type Engine,
  EngineError,
  type GivenMap,
  type Ground,
  type WalkingAgent,
  type World,
} from "./types";
import { LivingWorld } from "./world";

export * from "./types";

/** Load the engine from engine.bin, with what `andante play` adds for its map. */
export async function loadEngine(engine: Uint8Array, scene?: Uint8Array): Promise<Engine> {
  const [about, code] = unpacked<AboutEngine>(engine);
  return new LoadedEngine(await Module.load(code), about, scene);
}

/** Return the bytes that an element of the page contains as base64 of gzip; null if it is empty or missing. */
export async function embedded(id: string): Promise<Uint8Array | null> {
  const text = document.getElementById(id)?.textContent?.trim();
  if (!text) return null;
  const packed = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function givenMap({ map: { name, width, height, rows }, databases, recipes }: AboutScene): GivenMap {
  const passable = Uint8Array.from(rows.join(""), (one) => (one === "." ? 1 : 0));
  return { name, width, height, passable, databases, agents: Object.keys(recipes) };
}

function needOf(card: Card): string {
  return card.needs.length > 0 ? `the ${card.needs.join(" and the ")} database` : "the levels";
}

/** Return why a page lacks what an agent needs that cannot walk on any map. */
function lacking(card: Card, given: boolean): string {
  const needs = card.needs.length > 0 ? `a ${card.needs.join(" and a ")} database` : "levels of the map";
  return given
    ? `${card.title} needs ${needs}, and andante play could not include that in this page`
    : `${card.title} needs ${needs}, and this page was not written for a map; andante play MAP writes one that has it`;
}

/** Return whether a map is that of the scene, possibly after some edits, which do not change its name. */
function isFrom(ground: Ground, given: GivenMap): boolean {
  if (ground.width !== given.width || ground.height !== given.height) return false;
  return ground.name === given.name || ground.passable.every((value, i) => value === given.passable[i]);
}

class LoadedEngine implements Engine, Home {
  readonly cards: Card[];
  readonly version: string;
  readonly given: GivenMap | null = null;
  private readonly scene: AboutScene | null = null;
  private readonly held: Uint8Array = new Uint8Array(0); // behind the JSON of the scene
  private readonly databases: Database[] = []; // of the scene

  constructor(
    readonly module: Module,
    readonly about: AboutEngine,
    scene: Uint8Array | undefined,
  ) {
    this.version = about.version;
    this.cards = cardsOf(about);
    if (scene === undefined) return;
    [this.scene, this.held] = unpacked<AboutScene>(scene);
    this.given = givenMap(this.scene);
    for (const { kind, file } of this.scene.databases) this.databases.push(this.loaded(kind, file));
    for (const [name, recipe] of Object.entries(this.scene.recipes)) this.offer(name, recipe);
  }

  /** Put a database into the module's memory, where it stays. */
  private loaded(kind: string, file: string | Held): Database {
    const data = contents(file, this.held);
    const { memory } = this.module;
    const at = memory.take(data.length);
    memory.bytes().set(data, at);
    return { kind, at, bytes: data.length, checksum: memory.view().getUint32(at + 12, true) };
  }

  /** Let menus offer the values of parameters that a recipe of the scene has. */
  private offer(name: string, recipe: Recipe): void {
    const card = this.cards.find((one) => one.name === name);
    for (const { name: of, values } of recipe.shaping) {
      const parameter = card?.parameters.find((one) => one.name === of);
      if (parameter) parameter.values = values.map(read);
    }
  }

  world(ground: Ground, agents: readonly string[] = []): World {
    const { given, held } = this;
    const from = given && isFrom(ground, given) ? { passable: given.passable, levels: this.levelsOf(agents), held } : null;
    const world = new LivingWorld(this.module, this.about, ground, from);
    let finder: Mind | null = null;
    world.finder = (start, goal) => {
      if (world.passable[start] !== 1 || world.passable[goal] !== 1) return null;
      if (start === goal) return { cost: 0, path: Int32Array.of(start), expanded: 0 };
      finder ??= new Mind(this, world, { recipe: this.about.recipes["astar"]!, held: this.held, databases: [] }, understood("astar", this.cards));
      return finder.run(start, goal);
    };
    world.onDispose = () => finder?.dispose();
    return world;
  }

  /** The levels that some agents plan over; those that cannot walk here need none. */
  private levelsOf(agents: readonly string[]): Record<string, AboutLevels> {
    const found: Record<string, AboutLevels> = {};
    for (const notation of agents) {
      try {
        const setting = understood(notation, this.cards);
        const recipe = this.scene?.recipes[setting.card.name];
        if (recipe === undefined) continue;
        for (const [, which] of variantOf(recipe, setting).layout.words) {
          const levels = this.scene?.levels[which];
          if (levels) found[which] = levels;
        }
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
      }
    }
    return found;
  }

  normal(notation: string): string {
    return normal(understood(notation, this.cards));
  }

  obstacle(world: World, notation: string, sight: number | null = null): string | null {
    try {
      const setting = understood(notation, this.cards);
      variantOf(this.known(world as LivingWorld, setting, sight).recipe, setting);
      return null;
    } catch (error) {
      if (error instanceof EngineError) return error.message;
      throw error;
    }
  }

  /** Return the recipe for an agent on a map; the error says why there is none. */
  private known(world: LivingWorld, { card }: Setting, sight: number | null = null): Known {
    if (sight !== null) {
      const recipe = this.about.sighted[card.name];
      if (recipe === undefined) throw new EngineError(`${card.title} has to know its map; let it see the whole map`);
      return this.with(recipe);
    }
    const anywhere = this.about.recipes[card.name];
    if (anywhere !== undefined) return this.with(anywhere);
    const given = this.scene?.recipes[card.name];
    if (given === undefined) throw new EngineError(`${lacking(card, this.given !== null)}; use it from Python`);
    if (!world.isGiven) throw new EngineError(`${card.title} walks only on ${this.given!.name}: this page has ${needOf(card)} of that map; go back to it under "Map"`);
    return this.with(given);
  }

  private with(recipe: Recipe): Known {
    return { recipe, held: this.held, databases: (recipe.files ?? []).map((place) => this.databases[place]!) };
  }

  agent(world: World, notation: string, start: Cell, goal: Cell, sight: number | null = null): WalkingAgent {
    const setting = understood(notation, this.cards);
    const living = world as LivingWorld;
    return new Walker(this, living, this.known(living, setting, sight), setting, start, goal, sight);
  }

  crowd(world: World, notation: string, options: CrowdOptions = {}): Crowd {
    const setting = understood(notation, this.cards);
    const { card } = setting;
    const living = world as LivingWorld;
    this.known(living, setting);
    const kinds = this.about.crowds[card.name] ?? this.scene?.crowds[card.name];
    if (kinds === undefined) throw new EngineError(`${card.title} cannot be used in crowds on this page`);
    if (living.cells < this.about.crowd_cells) {
      throw new EngineError(`a crowd needs a map of at least ${this.about.crowd_cells} cells, and this has ${living.cells}`);
    }
    const recipe = options.bodies === true ? kinds.bodies : kinds.plain;
    return new MarchingCrowd(this, living, this.with(recipe), setting, options.units ?? 0);
  }

  memory(): { used: number; total: number } {
    return { used: this.module.memory.used, total: this.module.memory.total };
  }
}
