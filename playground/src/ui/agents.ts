/** The menus of agents and their parameters, made from the cards. */

import type { Card, Engine, Parameter, Value } from "../engine/types";
import { EngineError } from "../engine/types";
import { compose, parse, write } from "../notation";
import { MOST_AGENTS } from "../walk";
import { h, iconButton, select } from "./dom";

/** A menu for one agent: its algorithm, its parameters, and the notation as text. */
export class AgentMenu {
  readonly root = h("div", { class: "agent" });
  private readonly text: HTMLInputElement;
  private readonly fault = h("p", { class: "fault", role: "alert" });

  constructor(
    private readonly engine: Engine,
    private readonly offered: readonly Card[],
    private notation: string,
    private readonly label: string,
    private readonly action: (notation: string) => void,
    private readonly open = false,
  ) {
    this.text = h("input", { type: "text", class: "notation", "aria-label": `${label} in the notation`, spellcheck: "false", autocomplete: "off" });
    this.text.addEventListener("change", () => this.set(this.text.value));
    this.build();
  }

  private get card(): Card {
    const { name } = parse(this.notation, this.engine.cards);
    return this.offered.find((card) => card.name === name) ?? this.offered[0]!;
  }

  private build(): void {
    const { card } = this;
    const choices = this.offered.map((one) => ({ value: one.name, label: `${one.title} (${one.name})${lacks(one, this.engine)}` }));
    const menu = select(this.label, choices, card.name, (name) => this.set(first(this.offered.find((one) => one.name === name)!)));
    const examples = card.examples.filter((example) => example !== this.notation);
    const more = h(
      "details",
      { open: this.open },
      h("summary", {}, "Parameters"),
      this.text,
      ...card.parameters.map((parameter) => this.field(card, parameter)),
      examples.length > 0 && h("p", { class: "hint" }, "Try ", ...examples.slice(0, 4).flatMap((example) => [this.example(example), " "])),
      h("p", { class: "hint" }, `${card.summary} `, card.paper && h("cite", {}, card.paper), card.claims.length > 0 && ` · ${card.claims.join(", ")}`),
    );
    this.text.value = this.notation;
    this.root.replaceChildren(menu, more, this.fault);
  }

  private example(notation: string): HTMLElement {
    return h("button", { type: "button", class: "link", click: () => this.set(notation) }, notation);
  }

  private field(card: Card, parameter: Parameter): HTMLElement {
    const { values } = parse(this.notation, this.engine.cards);
    const value = values.has(parameter.name) ? values.get(parameter.name)! : parameter.default;
    const change = (next: Value): void => this.set(compose(card, new Map([...values, [parameter.name, next]])));
    const hint = `${parameter.about}: ${parameter.allowed}`;
    const control = this.control(parameter, value, change);
    control.title = hint;
    return h("label", { class: "field" }, h("span", {}, parameter.name), control, h("small", {}, parameter.about));
  }

  private control(parameter: Parameter, value: Value, change: (value: Value) => void): HTMLElement {
    if (parameter.kind === "bool") {
      const box = h("input", { type: "checkbox" });
      box.checked = value === true;
      box.addEventListener("change", () => change(box.checked));
      return box;
    }
    if (parameter.values !== null) {
      const choices = parameter.values.map((one) => ({ value: write(one), label: write(one) }));
      return select(parameter.name, choices, write(value), (text) => change(parameter.values!.find((one) => write(one) === text)!));
    }
    const whole = parameter.kind === "int";
    const input = h("input", {
      type: "text",
      inputmode: whole ? "numeric" : "decimal",
      placeholder: parameter.optional ? "none" : undefined,
      autocomplete: "off",
    });
    input.value = value === null ? "" : write(value);
    input.addEventListener("change", () => {
      const text = input.value.trim();
      change(text === "" && parameter.optional ? null : text === "inf" ? Infinity : text === "" ? parameter.default : Number(text));
    });
    return input;
  }

  private set(notation: string): void {
    try {
      const normal = this.engine.normal(notation);
      const { name } = parse(normal, this.engine.cards);
      if (!this.offered.some((card) => card.name === name)) throw new EngineError(`${name} cannot be used in crowds`);
      this.fault.textContent = "";
      this.notation = normal;
      this.action(normal);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.fault.textContent = error.message;
    }
  }
}

/** Return the setting of an algorithm that comparisons show. */
export function first(card: Card): string {
  return card.shown[0] ?? card.name;
}

function lacks(card: Card, engine: Engine): string {
  if (card.anywhere) return "";
  const { given } = engine;
  if (given?.agents.includes(card.name)) return " – this map only";
  return card.needs.length > 0 ? ` – needs ${card.needs.join(", ")}` : " – needs levels";
}

/** The list of agents of a walk. */
export class AgentList {
  readonly root = h("div", { class: "agents" });
  private opened: number | null = null;

  constructor(
    private readonly engine: Engine,
    private notations: readonly string[],
    private readonly action: (notations: string[]) => void,
  ) {
    this.build();
  }

  show(notations: readonly string[]): void {
    if (notations.join("\n") === this.notations.join("\n")) return;
    this.notations = notations;
    this.build();
  }

  private build(): void {
    const rows = this.notations.map((notation, k) => {
      const menu = new AgentMenu(this.engine, this.engine.cards, notation, `Agent ${k + 1}`, (next) => {
        this.opened = k;
        this.change(this.notations.map((one, i) => (i === k ? next : one)));
      }, this.opened === k);
      const remove = iconButton("close", `Remove agent ${k + 1}`, () => this.remove(k));
      remove.disabled = this.notations.length < 2;
      return h("div", { class: "agent-row" }, h("span", { class: `swatch swatch-${k}`, "aria-hidden": "true" }), menu.root, remove);
    });
    const add = h("button", { type: "button", class: "button", click: () => this.add() }, "Add an agent");
    add.disabled = this.notations.length >= MOST_AGENTS;
    this.root.replaceChildren(...rows, add);
  }

  private add(): void {
    const used = new Set(this.notations);
    const offered = this.engine.cards.flatMap((card) => (card.anywhere ? card.shown : []));
    this.change([...this.notations, offered.find((one) => !used.has(one)) ?? this.notations[0]!]);
  }

  private remove(k: number): void {
    this.opened = null;
    this.change(this.notations.filter((_, i) => i !== k));
  }

  private change(notations: string[]): void {
    this.notations = notations;
    this.build();
    this.action(notations);
  }
}
