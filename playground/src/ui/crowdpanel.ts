/** The options of a crowd. */

import type { Engine } from "../engine/types";
import { MOST_UNITS, type Scene } from "../scene";
import { AgentMenu } from "./agents";
import { checkbox, h, select, Slider, written } from "./dom";

type Plan = Scene["crowd"];

/** Return the controls of a crowd; `change` starts again with another plan, `spend` sets another budget. */
export function crowdControls(engine: Engine, crowd: Plan, change: (part: Partial<Plan>) => void, spend: (budget: number | null) => void): HTMLElement[] {
  const offered = engine.cards.filter((card) => card.crowd);
  const menu = new AgentMenu(engine, offered, crowd.notation, "Algorithm of the crowd", (notation) => change({ notation }));
  const log = (write: (at: number) => string, least: number, most: number) => ({ least, most, step: 0.25, read: (at: number) => Math.round(2 ** at), write });
  const round = (at: number): number => Math.min(MOST_UNITS, Number((2 ** at).toPrecision(2)));
  const sizes = { least: 0, most: Math.ceil(Math.log2(MOST_UNITS)), step: 0.25, read: round, write: (at: number) => written(round(at)) };
  const units = new Slider("Units", sizes, Math.log2(crowd.units), () => {});
  units.input.addEventListener("change", () => change({ units: units.value }));
  const unlimited = 20;
  const budget = new Slider(
    "Budget in a tick",
    log((at) => (at >= unlimited ? "unlimited" : `${written(Math.round(2 ** at))} expansions`), 4, unlimited),
    crowd.budget === null ? unlimited : Math.log2(crowd.budget),
    (value) => {
      spend(value >= 2 ** unlimited ? null : value);
    },
  );
  const errands = [
    { value: "streams", label: "from place to place" },
    { value: "goal", label: "all to the goal" },
    { value: "anywhere", label: "each to its own goal" },
  ];
  return [
    menu.root,
    units.root,
    budget.root,
    h("label", { class: "field" }, h("span", {}, "where to"), select("Where units go", errands, crowd.errand, (errand) => change({ errand: errand as Scene["crowd"]["errand"] }))),
    checkbox("give arrived units new goals", crowd.endless, (endless) => change({ endless })),
    checkbox("bodies: one unit to a cell", crowd.bodies, (bodies) => change({ bodies })),
  ];
}
