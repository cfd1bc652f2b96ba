/** The table of a race: the order of arrival, and the costs. */

import { h, written } from "./ui/dom";
import type { WalkSession } from "./walksession";

export class RacePanel {
  private readonly body = h("tbody");
  private shown = "";
  readonly root = h(
    "table",
    { class: "race" },
    h("thead", {}, h("tr", {}, ...["Place", "Agent", "Beats", "Times optimal", "Expanded"].map((title) => h("th", { scope: "col" }, title)))),
    this.body,
  );

  show(session: WalkSession): void {
    const { walk } = session;
    const optimal = walk.changed ? null : walk.optimal;
    const rows = walk.walkers.map((walker, k) => {
      const { history } = walker;
      const moves = history.movesAt(session.at);
      const arrived = walker.ending === "arrived" && walker.ended <= session.at;
      return {
        k,
        name: walker.notation,
        beats: arrived ? walker.ended : Infinity,
        ratio: moves > 0 && optimal?.cost ? history.walked.at(moves - 1) / optimal.cost : NaN,
        cost: moves > 0 ? history.walked.at(moves - 1) : 0,
        expanded: moves > 0 ? history.total.at(moves - 1) : 0,
      };
    });
    rows.sort((a, b) => (a.beats === b.beats ? a.cost - b.cost : a.beats - b.beats));
    const text = JSON.stringify(rows);
    if (text === this.shown) return;
    this.shown = text;
    const place = (beats: number): string => (beats < Infinity ? String(1 + rows.filter((row) => row.beats < beats).length) : "");
    this.body.replaceChildren(
      ...rows.map((row) =>
        h(
          "tr",
          {},
          h("td", {}, place(row.beats)),
          h("th", { scope: "row" }, h("span", { class: `swatch swatch-${row.k}`, "aria-hidden": "true" }), row.name),
          h("td", {}, row.beats < Infinity ? written(row.beats) : "–"),
          h("td", {}, Number.isNaN(row.ratio) ? "–" : row.ratio.toFixed(2)),
          h("td", {}, written(row.expanded)),
        ),
      ),
    );
  }
}
