/** The help: what the page can do, and its keys. */

import { h, iconButton } from "./dom";

const KEYS: readonly (readonly [string, string])[] = [
  ["Space", "play and pause"],
  [".", "one move"],
  [",", "one move back"],
  ["T", "one expansion of the next move's thinking"],
  ["E", "run to the end"],
  ["R", "start again on the current map"],
  ["+  −  0", "zoom in, out, show the whole map"],
  ["1  2  3", "move the map, draw walls, erase them"],
  ["D", "dark or light"],
  ["?", "this help"],
  ["arrow keys", "on the map: move the cursor; with Shift the map"],
  ["W  X", "on the map: draw a wall at the cursor, erase it"],
  ["S  G", "on the map: put the start or the goal at the cursor"],
];

export class HelpDialog {
  readonly root: HTMLDialogElement;

  constructor() {
    const rows = KEYS.map(([key, text]) => h("tr", {}, h("th", { scope: "row" }, h("kbd", {}, key)), h("td", {}, text)));
    const close = iconButton("close", "Close", () => this.root.close(), "Escape");
    this.root = h(
      "dialog",
      { class: "help", "aria-labelledby": "help-title" },
      h("div", { class: "row" }, h("h2", { id: "help-title" }, "Real-time search, live"), close),
      h("p", {}, "Every agent plans only its next move, within a bounded number of expanded states, and learns from what it finds: learned values rise where the straight line to the goal misleads. The page runs the library's own code."),
      h("p", {}, "Draw and erase walls, or drag the goal, while the agents walk. Go back to any move; if you change something there, the walk continues from there. In the parameters of an agent you can let it look deeper, or learn more in a move."),
      h("h3", {}, "Keys"),
      h("table", {}, h("tbody", {}, ...rows)),
    );
  }

  get isOpen(): boolean {
    return this.root.open;
  }

  open(): void {
    this.root.showModal();
  }
}
