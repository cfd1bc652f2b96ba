// The engine: agents of Andante in the page. See types.ts for what it offers.

import { type AboutEngine, type AboutScene, cardsOf, type Recipe, unpacked } from "./about";
import { type Home, Mind, variantOf, Walker } from "./agent";
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

function givenMap({ map: { name, width, height, rows } }: AboutScene): GivenMap {
  return { name, width, height, passable: Uint8Array.from(rows.join(""), (one) => (one === "." ? 1 : 0)), databases: [] };
}

function isSame(one: Ground, other: Ground): boolean {
  return one.width === other.width && one.passable.every((value, i) => value === other.passable[i]);
}

class LoadedEngine implements Engine, Home {
  readonly cards: Card[];
  readonly version: string;
  readonly given: GivenMap | null;

  constructor(
    readonly module: Module,
    readonly about: AboutEngine,
    scene: Uint8Array | undefined,
  ) {
    this.version = about.version;
    this.cards = cardsOf(about);
    this.given = scene === undefined ? null : givenMap(unpacked<AboutScene>(scene)[0]);
  }

  world(ground: Ground): World {
    const world = new LivingWorld(this.module, this.about, ground, this.given !== null && isSame(this.given, ground));
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

  obstacle(_: World, notation: string): string | null {
    try {
      const setting = understood(notation, this.cards);
      variantOf(this.recipe(setting), setting);
      return null;
    } catch (error) {
      if (error instanceof EngineError) return error.message;
      throw error;
    }
  }

  /** Return the recipe for an agent; say why there is none. */
  private recipe({ card }: Setting): Recipe {
    const found = this.about.recipes[card.name];
    if (found !== undefined) return found;
    const needs = card.needs.length > 0 ? `a ${card.needs.join(" and a ")} database` : "levels of the map";
    throw new EngineError(`${card.title} needs ${needs}, and this page has none; use it from Python`);
  }

  agent(world: World, notation: string, start: Cell, goal: Cell): WalkingAgent {
    const setting = understood(notation, this.cards);
    return new Walker(this, world as LivingWorld, this.recipe(setting), setting, start, goal);
  }

  crowd(world: World, notation: string, options: CrowdOptions = {}): Crowd {
    const setting = understood(notation, this.cards);
    const kinds = this.about.crowds[setting.card.name];
    if (kinds === undefined) throw new EngineError(`${setting.card.title} cannot be one of a crowd in this page`);
    const cells = (world as LivingWorld).cells;
    if (cells < this.about.crowd_cells) {
      throw new EngineError(`a crowd needs a map of at least ${this.about.crowd_cells} cells, and this has ${cells}`);
    }
    const recipe = options.bodies === true ? kinds.bodies : kinds.plain;
    return new MarchingCrowd(this, world as LivingWorld, recipe, setting, options.units ?? 0);
  }

  memory(): { used: number; total: number } {
    return { used: this.module.memory.used, total: this.module.memory.total };
  }
}
