/** The frame around the stage: tabs, tools, the playback controls below it, and the panels beside it. */

import type { Engine } from "../engine/types";
import type { Mode } from "../scene";
import type { Session } from "../session";
import type { Tool } from "../view/board";
import type { Layers } from "../view/walkerview";
import { checkbox, h, icon, iconButton, section, select, setIcon, Slider, written } from "./dom";
import { HelpDialog } from "./help";
import { Meter } from "./meter";

const MODES: readonly (readonly [Mode, string, string])[] = [
  ["walk", "Walk", "Every agent makes one move at a time"],
  ["race", "Race", "Every agent may expand the same number of states in a beat"],
  ["crowd", "Crowd", "Many units share one budget"],
];
const TOOLS: readonly (readonly [Tool, "pan" | "wall" | "erase", string, string])[] = [
  ["move", "pan", "Move the map", "1"],
  ["wall", "wall", "Draw walls", "2"],
  ["erase", "erase", "Erase walls", "3"],
];
const LAYERS: readonly (readonly [keyof Layers, string])[] = [
  ["expanded", "expanded states"],
  ["learned", "learned values"],
  ["plan", "plan"],
  ["path", "path"],
  ["optimal", "optimal path"],
  ["stale", "stale entries"],
];
const BRUSHES = [1, 2, 3, 5, 9];
const SLOWEST = 0; // log2 of beats per second
const FASTEST = 14;

/** The actions of the controls. */
export interface Actions {
  setMode(mode: Mode): void;
  setTool(tool: Tool): void;
  setBrush(cells: number): void;
  setSpeed(beats: number): void;
  setLayout(layout: string): void;
  showLayer(name: keyof Layers, shown: boolean): void;
  toggle(): void;
  rush(): void;
  step(): void;
  back(): void;
  think(): void;
  restart(): void;
  seek(beat: number): void;
  zoom(factor: number): void;
  fit(): void;
  toggleTheme(): void;
}

/** The panels that the page's other parts fill. */
export interface Panels {
  readonly agents: HTMLElement;
  readonly race: readonly HTMLElement[];
  readonly crowd: HTMLElement;
  readonly map: HTMLElement;
  readonly keep: HTMLElement;
}

/** The initial settings of the controls. */
export interface Beginning {
  readonly layers: Layers;
  readonly layout: string;
  readonly speed: number;
}

export class Shell {
  readonly stage = h("div", { class: "stage" });
  readonly help = new HelpDialog();
  readonly meter = new Meter();
  private readonly panels = h("div", { class: "panels" });
  private readonly live = h("p", { class: "visually-hidden", role: "status", "aria-live": "polite" });
  private readonly notice = h("p", { class: "notice", role: "alert", hidden: true });
  private readonly modeButtons = new Map<Mode, HTMLButtonElement>();
  private readonly toolButtons = new Map<Tool, HTMLButtonElement>();
  private readonly playButton: HTMLButtonElement;
  private readonly backButton: HTMLButtonElement;
  private readonly stepButton: HTMLButtonElement;
  private readonly thinkButton: HTMLButtonElement;
  private readonly scrubber = h("input", { type: "range", min: 0, max: 1, step: 1, "aria-label": "Moment of the walk", class: "scrubber" });
  private readonly clock = h("output", { class: "clock" });

  constructor(
    private readonly root: HTMLElement,
    engine: Engine,
    private readonly actions: Actions,
    panels: Panels,
    beginning: Beginning,
  ) {
    this.playButton = iconButton("play", "Play", () => actions.toggle(), "Space");
    this.backButton = iconButton("back", "One move back", () => actions.back(), ",");
    this.stepButton = iconButton("on", "One move", () => actions.step(), ".");
    this.thinkButton = iconButton("think", "One expansion of the next move", () => actions.think(), "T");
    const left = h("div", { class: "left" }, this.toolbar(), this.stage, this.transport(beginning.speed), this.notice);
    this.fillPanels(panels, beginning, engine);
    root.replaceChildren(this.header(), h("main", {}, left, this.panels), this.live, this.help.root);
  }

  // --- building ---

  private header(): HTMLElement {
    const tabs = h("div", { class: "modes", role: "group", "aria-label": "What is shown" });
    for (const [mode, label, about] of MODES) {
      const button = h("button", { type: "button", title: about, click: () => this.actions.setMode(mode) }, label);
      this.modeButtons.set(mode, button);
      tabs.append(button);
    }
    const theme = iconButton("theme", "Dark or light", () => this.actions.toggleTheme(), "D");
    const help = iconButton("help", "Help and keys", () => this.help.open(), "?");
    return h("header", {}, h("h1", {}, "Andante ", h("span", {}, "playground")), tabs, h("div", { class: "row corner" }, theme, help));
  }

  private toolbar(): HTMLElement {
    const { actions } = this;
    const group = h("div", { class: "tools", role: "group", "aria-label": "Tools" });
    for (const [tool, image, label, key] of TOOLS) {
      const button = iconButton(image, label, () => actions.setTool(tool), key);
      this.toolButtons.set(tool, button);
      group.append(button);
    }
    const brushes = BRUSHES.map((size) => ({ value: String(size), label: `${size} wide` }));
    const brush = select("Width of the brush", brushes, "1", (size) => actions.setBrush(Number(size)));
    const views = h(
      "div",
      { class: "tools", role: "group", "aria-label": "Zoom" },
      iconButton("minus", "Zoom out", () => actions.zoom(1 / 1.5), "-"),
      iconButton("fit", "Show the whole map", () => actions.fit(), "0"),
      iconButton("plus", "Zoom in", () => actions.zoom(1.5), "+"),
    );
    return h("div", { class: "toolbar" }, group, brush, views, h("p", { class: "hint" }, icon("start"), " Drag the start and the goal; draw while agents walk."));
  }

  private transport(speed: number): HTMLElement {
    const { actions } = this;
    this.scrubber.addEventListener("input", () => actions.seek(Number(this.scrubber.value)));
    const restart = iconButton("restart", "Start again on the current map", () => actions.restart(), "R");
    const rush = iconButton("end", "Run to the end", () => actions.rush(), "E");
    const buttons = h("div", { class: "buttons", role: "group", "aria-label": "Play" }, restart, this.backButton, this.playButton, this.stepButton, this.thinkButton, rush);
    const scale = { least: SLOWEST, most: FASTEST, step: 0.25, read: (at: number) => 2 ** at, write: (at: number) => `${written(Math.round(2 ** at))}/s` };
    const slider = new Slider("Speed", scale, Math.log2(speed), (value) => actions.setSpeed(value));
    return h("div", { class: "transport" }, buttons, this.scrubber, h("div", { class: "readings" }, this.clock, this.meter.root), slider.root);
  }

  private fillPanels(panels: Panels, { layers, layout }: Beginning, engine: Engine): void {
    const layouts = [
      { value: "tiles", label: "side by side" },
      { value: "one", label: "all on one map" },
    ];
    const menu = h("div", { class: "row" }, select("Layout", layouts, layout, (chosen) => this.actions.setLayout(chosen)));
    const boxes = LAYERS.map(([name, label]) => checkbox(label, layers[name], (checked) => this.actions.showLayer(name, checked)));
    const shown = section("Shown", menu, h("div", { class: "checks" }, ...boxes), legend());
    shown.dataset.for = "walk race";
    const agents = section("Agents", panels.agents);
    agents.dataset.for = "walk race";
    const race = section("Race", ...panels.race);
    race.dataset.for = "race";
    const crowd = section("Crowd", panels.crowd);
    crowd.dataset.for = "crowd";
    this.panels.append(race, crowd, agents, shown, panels.map, panels.keep, about(engine));
  }

  /** The action of each key. */
  keys(): Record<string, () => void> {
    const { actions } = this;
    return {
      " ": () => actions.toggle(),
      ".": () => actions.step(),
      ",": () => actions.back(),
      t: () => actions.think(),
      e: () => actions.rush(),
      r: () => actions.restart(),
      d: () => actions.toggleTheme(),
      "?": () => this.help.open(),
      "0": () => actions.fit(),
      "+": () => actions.zoom(1.5),
      "=": () => actions.zoom(1.5),
      "-": () => actions.zoom(1 / 1.5),
      "1": () => actions.setTool("move"),
      "2": () => actions.setTool("wall"),
      "3": () => actions.setTool("erase"),
    };
  }

  // --- showing ---

  /** Show the session of a mode on the stage, and the panels that belong to it. */
  show(session: HTMLElement, shownMode: Mode): void {
    this.stage.replaceChildren(session);
    this.root.dataset.mode = shownMode;
    for (const [mode, button] of this.modeButtons) button.setAttribute("aria-pressed", String(mode === shownMode));
    for (const panel of this.panels.querySelectorAll<HTMLElement>("[data-for]")) {
      panel.hidden = !panel.dataset.for!.split(" ").includes(shownMode);
    }
  }

  showTool(tool: Tool): void {
    for (const [name, button] of this.toolButtons) button.setAttribute("aria-pressed", String(name === tool));
  }

  /** Label the buttons by what they do now. */
  showSession({ playing, rushing, beatName }: Session, thinks: boolean): void {
    const busy = playing || rushing;
    setIcon(this.playButton, busy ? "pause" : "play", busy ? "Pause" : "Play", "Space");
    setIcon(this.stepButton, "on", `One ${beatName}`, ".");
    setIcon(this.backButton, "back", `One ${beatName} back`, ",");
    this.thinkButton.disabled = !thinks;
  }

  showTime({ first, last, at, beatName }: Session): void {
    this.scrubber.min = String(first);
    this.scrubber.max = String(Math.max(1, last));
    this.scrubber.value = String(at);
    const text = `${beatName} ${written(at)}`;
    if (this.clock.textContent !== text) this.clock.textContent = text;
  }

  /** Let screen readers say a text. */
  announce(text: string): void {
    this.live.textContent = text;
  }

  /** Show a sentence on the page until something else is opened. */
  say(text: string | null): void {
    this.notice.hidden = text === null;
    this.notice.textContent = text ?? "";
  }
}

function about({ cards, version, given }: Engine): HTMLElement {
  const carried = given && given.databases.length > 0 ? ` It has databases of ${given.name}: ${given.databases.map((one) => one.about).join(", ")}.` : "";
  return h("p", { class: "hint about" }, `Andante ${version}: ${cards.length} algorithms, compiled to WebAssembly from the library's own kernels. This page is one file; nothing is sent anywhere.${carried}`);
}

function legend(): HTMLElement {
  const entries = [
    ["flash", "expanded for the last move"],
    ["expanded", "expanded before"],
    ["heat", "learned, from little to much"],
    ["start", "start"],
    ["goal", "goal"],
    ["agent", "agent"],
    ["plan", "plan"],
    ["optimal", "optimal path"],
    ["stale", "its database is outdated here"],
    ["unseen", "not seen yet"],
  ];
  return h("ul", { class: "legend" }, ...entries.map(([name, text]) => h("li", {}, h("span", { class: `key key-${name}`, "aria-hidden": "true" }), text!)));
}
