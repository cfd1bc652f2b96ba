// The engine: agents of Andante in the page. See types.ts for what it offers.

import { type AboutEngine, cardsOf, type Recipe, unpacked } from "./about";
import { type Home, type Lying, Mind, variantOf, Walker } from "./agent";
import { MarchingCrowd } from "./crowd";
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

/** Load the engine from engine.bin, and with it what `andante play` adds for its map. */
export async function loadEngine(engine: Uint8Array, scene?: Uint8Array): Promise<Engine> {
  const [about, code] = unpacked<AboutEngine>(engine);
  return new LoadedEngine(await Module.load(code), about, scene);
}

/** Return the bytes that an element of the page holds as base64 of gzip; null if it is empty or not there. */
export async function embedded(id: string): Promise<Uint8Array | null> {
  const text = document.getElementById(id)?.textContent?.trim();
  if (!text) return null;
  const packed = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

class LoadedEngine implements Engine, Home {
  readonly cards: Card[];
  readonly version: string;
  readonly given: GivenMap | null = null;
  private readonly lying: Lying[] = [];

  constructor(
    readonly module: Module,
    readonly about: AboutEngine,
    scene: Uint8Array | undefined,
  ) {
    this.version = about.version;
    this.cards = cardsOf(about);
    if (scene !== undefined) this.take(scene);
  }

  private take(scene: Uint8Array): void {
    void scene;
  }

  database(number: number): Lying {
    return this.lying[number]!;
  }

  databaseChecksums(): number[] {
    return this.lying.map((one) => one.checksum);
  }

  world(ground: Ground): World {
    const world = new LivingWorld(this.module, this.about, ground, false);
    let finder: Mind | null = null;
    world.finder = (start, goal) => {
      if (world.passable[start] !== 1 || world.passable[goal] !== 1) return null;
      if (start === goal) return { cost: 0, path: Int32Array.of(start), expanded: 0 };
      finder ??= new Mind(this, world, this.about.recipes["astar"]!, understood("astar", this.cards));
      return finder.run(start, goal);
    };
    world.onDispose = () => finder?.dispose();
    return world;
  }

  normal(notation: string): string {
    return normal(understood(notation, this.cards));
  }

  obstacle(world: World, notation: string): string | null {
    try {
      const setting = understood(notation, this.cards);
      variantOf(this.recipe(world as LivingWorld, setting), setting);
      return null;
    } catch (error) {
      if (error instanceof EngineError) return error.message;
      throw error;
    }
  }

  /** Return the recipe for an agent in a world; say why there is none. */
  private recipe(world: LivingWorld, { card }: Setting): Recipe {
    void world;
    const found = this.about.recipes[card.name];
    if (found !== undefined) return found;
    const needs = card.needs.length > 0 ? `a ${card.needs.join(" and a ")} database` : "levels of the map";
    throw new EngineError(`${card.title} needs ${needs}, which 'andante play MAP' makes for its map`);
  }

  agent(world: World, notation: string, start: Cell, goal: Cell): WalkingAgent {
    const setting = understood(notation, this.cards);
    const living = world as LivingWorld;
    return new Walker(this, living, this.recipe(living, setting), setting, start, goal);
  }

  crowd(world: World, notation: string, options: CrowdOptions = {}): Crowd {
    const setting = understood(notation, this.cards);
    const kinds = this.about.crowds[setting.card.name];
    if (kinds === undefined) throw new EngineError(`${setting.card.title} cannot be one of a crowd in this page`);
    const recipe = options.bodies === true ? kinds.bodies : kinds.plain;
    return new MarchingCrowd(this, world as LivingWorld, recipe, setting, options.units ?? 0);
  }

  memory(): { used: number; total: number } {
    return { used: this.module.memory.used, total: this.module.memory.total };
  }
}
