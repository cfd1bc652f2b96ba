/** The texts of one walker: its state and its numbers, at any moment. */

import type { Moment, WalkerView } from "../view/walkerview";
import type { Walk } from "../walk";
import type { Ending } from "../walker";
import { bytes, h, written } from "./dom";

const ENDINGS: Record<Ending, string> = {
  walking: "walking",
  arrived: "arrived",
  stuck: "stuck",
  unreachable: "no path to the goal",
  limit: "stopped after a million moves",
  refused: "cannot walk",
};

export const NUMBERS = [
  ["moves", "Moves"],
  ["ratio", "Times optimal"],
  ["now", "Expanded now"],
  ["worst", "Worst move"],
  ["memory", "Memory"],
] as const;

export class WalkerTexts {
  readonly status = h("span", { class: "status" });
  readonly numbers: Record<(typeof NUMBERS)[number][0], HTMLElement>;

  constructor(
    private readonly walk: Walk,
    private readonly view: WalkerView,
    element: "span" | "dd",
  ) {
    this.numbers = { moves: h(element), ratio: h(element), now: h(element), worst: h(element), memory: h(element) };
  }

  show(moment: Moment): void {
    const { numbers, view, walk } = this;
    const optimal = walk.changed ? null : walk.optimal;
    const now = view.numbers(moment);
    const { ending, text } = this.standing(moment);
    setText(this.status, text);
    this.status.dataset.state = ending;
    setText(numbers.moves, written(now.moves));
    setText(numbers.ratio, optimal && optimal.cost > 0 && now.moves > 0 ? (now.walked / optimal.cost).toFixed(2) : "–");
    setText(numbers.now, written(now.now));
    setText(numbers.worst, written(now.worst));
    const { agent } = view.walker;
    setText(numbers.memory, agent ? bytes(agent.mindBytes + agent.deskBytes) : "–");
  }

  /** Return the state of the walker at a moment. */
  private standing({ beat }: Moment): { ending: Ending; text: string } {
    const { view, walk } = this;
    const { walker } = view;
    if (walker.ending === "refused") return { ending: "refused", text: walker.refusal ?? "" };
    const ending = walker.ended <= beat ? walker.ending : "walking";
    if (view.stale > 0 && ending === "walking") {
      const searches = walker.agent!.astray && beat === walk.beat;
      const how = searches ? "searching, as its database led to a wall" : "walking by its database";
      return { ending, text: `${how}; ${written(view.stale)} cells have stale entries` };
    }
    if (ending === "arrived" && walk.plan.budget !== null) return { ending, text: `arrived after ${written(walker.ended)} beats` };
    return { ending, text: ENDINGS[ending] };
  }
}

export function swatch(k: number): HTMLElement {
  return h("span", { class: `swatch swatch-${k}`, "aria-hidden": "true" });
}

function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
