/** The sources of maps: generated, opened from a file, or drawn on an empty map. */

import { generate, KINDS, LEAST_SIDE, MOST_SIDE, type Recipe } from "../world/generate";
import type { GridMap } from "../world/map";
import { h, section, select } from "./dom";

export class MapPanel {
  readonly root: HTMLElement;
  private readonly options = h("div", { class: "fields" });
  private readonly inputs = new Map<string, HTMLInputElement>();
  private readonly width = field("width", 96, LEAST_SIDE, MOST_SIDE, 1);
  private readonly height = field("height", 96, LEAST_SIDE, MOST_SIDE, 1);
  private readonly seed = field("seed", 1, 0, 2 ** 32 - 1, 1);
  private readonly fault = h("p", { class: "fault", role: "alert" });
  private kind = KINDS[0]!;

  constructor(
    private readonly made: (map: GridMap, recipe: Recipe) => void,
    opened: (file: File) => void,
    given: (() => void) | null,
  ) {
    const kinds = KINDS.map(({ name }) => ({ value: name, label: name }));
    const menu = select("Kind of map", kinds, this.kind.name, (name) => this.choose(name));
    const file = h("input", { type: "file", accept: ".map,.txt,.json", id: "map-file", class: "visually-hidden" });
    file.addEventListener("change", () => {
      if (file.files?.[0]) opened(file.files[0]);
      file.value = "";
    });
    const make = h("button", { type: "button", class: "button primary", click: () => this.make() }, "Generate");
    const another = h("button", { type: "button", class: "button", click: () => this.another() }, "Another seed");
    this.root = section(
      "Map",
      h("div", { class: "fields" }, h("label", { class: "field" }, h("span", {}, "kind"), menu), this.width.root, this.height.root, this.seed.root),
      this.options,
      h("div", { class: "row" }, make, another),
      h("div", { class: "row" }, h("label", { class: "button", for: "map-file" }, "Open a .map file"), file, given && h("button", { type: "button", class: "button", click: given }, "The given map")),
      h("p", { class: "hint" }, "You can also drop a .map file or a trace anywhere on the page, or draw on the map."),
      this.fault,
    );
    this.choose(this.kind.name);
  }

  /** Show how a map was generated. */
  show(recipe: Recipe): void {
    const menu = this.root.querySelector("select")!;
    menu.value = recipe.kind;
    this.choose(recipe.kind);
    this.width.input.value = String(recipe.width);
    this.height.input.value = String(recipe.height);
    this.seed.input.value = String(recipe.seed);
    for (const [name, value] of Object.entries(recipe.options)) {
      const input = this.inputs.get(name);
      if (input) input.value = String(value);
    }
  }

  private choose(name: string): void {
    this.kind = KINDS.find((kind) => kind.name === name) ?? KINDS[0]!;
    this.inputs.clear();
    this.options.replaceChildren(
      ...this.kind.options.map(({ name: option, label, initial, low, high, step }) => {
        const made = field(label, initial, low, high, step);
        this.inputs.set(option, made.input);
        return made.root;
      }),
    );
  }

  private another(): void {
    this.seed.input.value = String((Number(this.seed.input.value) + 1) % 2 ** 32);
    this.make();
  }

  private make(): void {
    const options: Record<string, number> = {};
    try {
      for (const option of this.kind.options) {
        const value = read(this.inputs.get(option.name)!, option.label, option.low, option.high, option.step === 1);
        if (value !== option.initial) options[option.name] = value;
      }
      const side = (input: HTMLInputElement, name: string): number => read(input, name, LEAST_SIDE, MOST_SIDE, true);
      const recipe: Recipe = {
        kind: this.kind.name,
        width: side(this.width.input, "width"),
        height: side(this.height.input, "height"),
        seed: read(this.seed.input, "seed", 0, 2 ** 32 - 1, true),
        options,
      };
      this.made(generate(recipe), recipe);
      this.fault.textContent = "";
    } catch (error) {
      this.fault.textContent = (error as Error).message;
    }
  }
}

function field(label: string, value: number, low: number, high: number, step: number): { root: HTMLElement; input: HTMLInputElement } {
  const input = h("input", { type: "number", min: low, max: high, step, value });
  return { root: h("label", { class: "field" }, h("span", {}, label), input), input };
}

function read(input: HTMLInputElement, name: string, low: number, high: number, whole: boolean): number {
  const value = input.value.trim() === "" ? NaN : Number(input.value);
  if (!(value >= low && value <= high) || (whole && !Number.isInteger(value))) {
    const what = whole ? "a whole number" : "a number";
    throw new Error(`${name} must be ${what} from ${low} to ${high}, not '${input.value}'`);
  }
  return value;
}
