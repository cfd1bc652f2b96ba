/** The page: a stage, the controls below it, and panels with everything that can be chosen. */

import { CrowdSession } from "./crowdsession";
import { readColours } from "./draw";
import type { Cell, Engine } from "./engine/types";
import { EngineError } from "./engine/types";
import { KeepPanel } from "./keep/panel";
import { RacePanel } from "./race";
import { type Mode, type Scene, toFragment } from "./scene";
import type { Session, Setting } from "./session";
import { farApart, firstScene, givenMap, sceneOfLink } from "./start";
import { AgentList } from "./ui/agents";
import { crowdControls } from "./ui/crowdpanel";
import { checkbox, h, icon, iconButton, section, select, setIcon, Slider, written } from "./ui/dom";
import { HelpDialog } from "./ui/help";
import { Meter } from "./ui/meter";
import { MapPanel } from "./ui/mappanel";
import { Camera, type Tool } from "./view/board";
import type { Layers } from "./view/walkerview";
import { terrainAt } from "./walk";
import { type Layout, WalkSession } from "./walksession";
import type { Recipe } from "./world/generate";
import { type GridMap, GROUND, MapError, parseMap, passable, WALL } from "./world/map";

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
const SLOWEST = 0; // log2 of beats per second
const FASTEST = 14;

export class App {
  private scene: Scene;
  private session!: Session & { canvases(): HTMLCanvasElement[] };
  private readonly setting: Setting;
  private readonly stage = h("div", { class: "stage" });
  private readonly panels = h("div", { class: "panels" });
  private readonly agents: AgentList;
  private readonly mapPanel: MapPanel;
  private readonly racePanel = new RacePanel();
  private readonly keepPanel: KeepPanel;
  private readonly crowdPanel = h("div");
  private readonly live = h("p", { class: "visually-hidden", role: "status", "aria-live": "polite" });
  private readonly notice = h("p", { class: "notice", role: "alert", hidden: true });
  private readonly help = new HelpDialog();
  private readonly modeButtons = new Map<Mode, HTMLButtonElement>();
  private readonly toolButtons = new Map<Tool, HTMLButtonElement>();
  private readonly playButton = iconButton("play", "Play", () => this.toggle(), "Space");
  private readonly rushButton = iconButton("end", "Run to the end", () => this.rush(), "E");
  private readonly backButton = iconButton("back", "One move back", () => this.session.back(), ",");
  private readonly stepButton = iconButton("on", "One move", () => this.session.step(), ".");
  private readonly thinkButton = iconButton("think", "One expansion of the next move", () => this.session.think(), "T");
  private readonly scrubber = h("input", { type: "range", min: 0, max: 1, step: 1, "aria-label": "Moment of the walk", class: "scrubber" });
  private readonly clock = h("output", { class: "clock" });
  private readonly meter = new Meter();
  private readonly speed: Slider;
  private readonly raceBudget: Slider;
  private readonly layout: HTMLElement;
  private shown: Scene | null = null; // the last scene that could be opened
  private lastFrame = 0;
  private saveTimer = 0;

  constructor(
    private readonly root: HTMLElement,
    private readonly engine: Engine,
    scene: Scene | null,
  ) {
    this.scene = scene ?? firstScene(engine);
    const layers: Layers = { expanded: true, learned: true, plan: true, path: true, optimal: false };
    this.setting = {
      camera: new Camera(this.scene.map.width, this.scene.map.height),
      colours: readColours(root),
      tool: "move",
      brush: 1,
      speed: this.scene.speed,
      layers,
      tell: (text) => this.tell(text),
      changed: () => this.changed(),
      rebuild: (change) => this.change(change),
    };
    this.agents = new AgentList(engine, this.scene.agents, (agents) => this.replace({ agents, events: [] }));
    const { given } = engine;
    this.mapPanel = new MapPanel(
      (map, recipe) => this.openMap(map, recipe),
      (file) => void this.openFile(file),
      given && (() => this.openMap(givenMap(given), null)),
    );
    if (this.scene.recipe) this.mapPanel.show(this.scene.recipe);
    this.keepPanel = new KeepPanel({
      engine,
      scene: () => this.current(),
      session: () => this.session,
      tell: (text) => this.tell(text),
      link: () => this.link(),
    });
    const log = { least: SLOWEST, most: FASTEST, step: 0.25, read: (at: number) => 2 ** at };
    this.speed = new Slider("Speed", { ...log, write: (at) => `${written(Math.round(2 ** at))}/s` }, Math.log2(this.scene.speed), (value) => {
      this.setting.speed = this.scene.speed = value;
      this.changed();
    });
    const budgets = { least: 0, most: 16, step: 0.25, read: (at: number) => Math.round(2 ** at), write: (at: number) => `${written(Math.round(2 ** at))} expansions` };
    this.raceBudget = new Slider("Budget in a beat", budgets, Math.log2(this.scene.raceBudget), (value) => this.replace({ raceBudget: value, events: [] }));
    this.layout = h("div", { class: "row" }, this.layoutMenu());
    this.build(layers);
    this.open();
    this.listen();
    requestAnimationFrame((now) => this.frame(now));
  }

  // --- building the page ---

  private build(layers: Layers): void {
    const tabs = h("div", { class: "modes", role: "group", "aria-label": "What is shown" });
    for (const [mode, label, about] of MODES) {
      const button = h("button", { type: "button", title: about, click: () => this.setMode(mode) }, label);
      this.modeButtons.set(mode, button);
      tabs.append(button);
    }
    const theme = iconButton("theme", "Dark or light", () => this.toggleTheme(), "D");
    const help = iconButton("help", "Help and keys", () => this.help.open(), "?");
    const header = h("header", {}, h("h1", {}, "Andante ", h("span", {}, "playground")), tabs, h("div", { class: "row corner" }, theme, help));
    const main = h("main", {}, h("div", { class: "left" }, this.toolbar(), this.stage, this.transport(), this.notice), this.panels);
    const names: readonly (readonly [keyof Layers, string])[] = [
      ["expanded", "expanded states"],
      ["learned", "learned values"],
      ["plan", "plan"],
      ["path", "path"],
      ["optimal", "optimal path"],
    ];
    const boxes = names.map(([name, label]) =>
      checkbox(label, layers[name], (checked) => {
        layers[name] = checked;
        this.session.repaint();
      }),
    );
    const shown = section("Shown", this.layout, h("div", { class: "checks" }, ...boxes), legend());
    shown.dataset.for = "walk race";
    const agents = section("Agents", this.agents.root);
    agents.dataset.for = "walk race";
    const race = section("Race", this.raceBudget.root, h("p", { class: "hint" }, "An agent moves once it has been given the expansions that it needed. Nobody saves up, and nobody makes two moves in a beat."), this.racePanel.root);
    race.dataset.for = "race";
    const crowd = section("Crowd", this.crowdPanel);
    crowd.dataset.for = "crowd";
    this.panels.append(race, crowd, agents, shown, this.mapPanel.root, this.keepPanel.root, this.about());
    this.root.replaceChildren(header, main, this.live, this.help.root);
  }

  private about(): HTMLElement {
    const { cards, version, given } = this.engine;
    const carried = given && given.databases.length > 0 ? ` It has databases of ${given.name}: ${given.databases.map((one) => one.about).join(", ")}.` : "";
    return h("p", { class: "hint about" }, `Andante ${version}: ${cards.length} algorithms, compiled to WebAssembly from the library's own kernels. This page is one file; nothing is sent anywhere.${carried}`);
  }

  private toolbar(): HTMLElement {
    const group = h("div", { class: "tools", role: "group", "aria-label": "Tools" });
    for (const [tool, image, label, key] of TOOLS) {
      const button = iconButton(image, label, () => this.setTool(tool), key);
      this.toolButtons.set(tool, button);
      group.append(button);
    }
    const brushes = [1, 2, 3, 5, 9].map((size) => ({ value: String(size), label: `${size} wide` }));
    const brush = select("Width of the brush", brushes, "1", (size) => (this.setting.brush = Number(size)));
    const views = h(
      "div",
      { class: "tools", role: "group", "aria-label": "Zoom" },
      iconButton("minus", "Zoom out", () => this.zoom(1 / 1.5), "-"),
      iconButton("fit", "Show the whole map", () => this.fit(), "0"),
      iconButton("plus", "Zoom in", () => this.zoom(1.5), "+"),
    );
    return h("div", { class: "toolbar" }, group, brush, views, h("p", { class: "hint" }, icon("start"), " Drag the start and the goal; draw while agents walk."));
  }

  private transport(): HTMLElement {
    this.scrubber.addEventListener("input", () => this.session.seek(Number(this.scrubber.value)));
    const restart = iconButton("restart", "Begin again on the map as it is", () => this.restart(), "R");
    const buttons = h("div", { class: "buttons", role: "group", "aria-label": "Play" }, restart, this.backButton, this.playButton, this.stepButton, this.thinkButton, this.rushButton);
    return h("div", { class: "transport" }, buttons, this.scrubber, h("div", { class: "readings" }, this.clock, this.meter.root), this.speed.root);
  }

  private layoutMenu(): HTMLElement {
    const choices = [
      { value: "tiles", label: "side by side" },
      { value: "one", label: "all on one map" },
    ];
    return select("Layout", choices, this.scene.layout, (layout) => this.replace({ layout: layout as Layout }));
  }

  // --- opening scenes ---

  /** Show the scene from its beginning. */
  private open(): void {
    const before = this.session as Session | undefined;
    const { scene, setting } = this;
    before?.dispose();
    if (setting.camera.width !== scene.map.width || setting.camera.height !== scene.map.height) {
      Object.assign(setting, { camera: new Camera(scene.map.width, scene.map.height) });
    }
    try {
      this.session = this.makeSession();
      this.say(null);
    } catch (error) {
      if (!(error instanceof EngineError) || !this.shown) throw error;
      this.say(error.message);
      this.scene = this.shown; // what was there before is not lost
      this.session = this.makeSession();
    }
    this.shown = this.scene;
    this.stage.replaceChildren(this.session.root);
    this.session.repaint(); // now that it has a size
    const { mode: shownMode, agents } = this.scene;
    this.root.dataset.mode = shownMode;
    for (const [mode, button] of this.modeButtons) button.setAttribute("aria-pressed", String(mode === shownMode));
    for (const panel of this.panels.querySelectorAll<HTMLElement>("[data-for]")) {
      panel.hidden = !panel.dataset.for!.split(" ").includes(shownMode);
    }
    this.setTool(setting.tool);
    const change = (part: Partial<Scene["crowd"]>): void => this.replace({ crowd: { ...this.scene.crowd, ...part } });
    this.crowdPanel.replaceChildren(...crowdControls(this.engine, this.scene.crowd, change, (budget) => this.spend(budget)));
    this.agents.show(agents);
    this.changed();
  }

  private makeSession(): WalkSession | CrowdSession {
    const { engine, scene, setting } = this;
    const { map, start, goal, mode, events } = scene;
    if (mode === "crowd") return new CrowdSession(engine, setting, { map, goal, ...scene.crowd });
    const budget = mode === "race" ? scene.raceBudget : null;
    return new WalkSession(engine, setting, { map, start, goal, notations: scene.agents, budget, events }, scene.layout);
  }

  /** The same scene with something else in it, from its beginning; walls drawn so far stay. */
  private replace(part: Partial<Scene>): void {
    const playing = this.session.playing;
    this.scene = { ...this.current(), ...part };
    this.open();
    if (playing) this.session.play();
  }

  private spend(budget: number | null): void {
    this.scene.crowd.budget = budget;
    if (this.session instanceof CrowdSession) this.session.budget = budget;
    this.saveSoon();
  }

  /** The scene as it is on the stage now, to begin with or to keep. */
  private current(): Scene {
    const { scene, session } = this;
    if (session instanceof WalkSession) return { ...scene, events: [...session.walk.events] };
    return scene;
  }

  /** What was changed before the first move belongs to the map and the problem. */
  private change({ cells, open, start, goal }: { cells?: readonly Cell[]; open?: boolean; start?: Cell; goal?: Cell }): void {
    const { scene } = this;
    let { map, recipe } = scene;
    if (cells) {
      const terrain = map.terrain.slice();
      for (const cell of cells) {
        if (passable(terrain[cell]!) !== open) terrain[cell] = open ? GROUND : WALL;
      }
      map = { ...map, terrain };
      recipe = null;
    }
    this.scene = { ...scene, map, recipe, start: start ?? scene.start, goal: goal ?? scene.goal, events: [] };
    this.open();
  }

  private setMode(mode: Mode): void {
    if (mode === this.scene.mode) return;
    this.scene = { ...this.settled(), mode };
    this.open();
  }

  private restart(): void {
    this.scene = this.settled();
    this.open();
  }

  /** The scene with everything that was drawn while agents walked as part of its map. */
  private settled(): Scene {
    const { scene, session } = this;
    const terrain = session instanceof WalkSession ? terrainAt(scene.map, session.walk.events, Infinity) : session.terrain();
    const same = terrain.every((character, cell) => character === scene.map.terrain[cell]);
    const goal = session.marker("goal") ?? scene.goal;
    const map = same ? scene.map : { ...scene.map, terrain };
    const end = passable(terrain[scene.start]!) ? scene.start : goal;
    return { ...scene, map, recipe: same ? scene.recipe : null, start: end, goal, events: [] };
  }

  private openMap(map: GridMap, recipe: Recipe | null): void {
    const ends = farApart(map);
    if (!ends) {
      this.say(`${map.name} has fewer than two connected free cells, so there is nowhere to walk`);
      return;
    }
    this.scene = { ...this.scene, map, recipe, ...ends, events: [] };
    this.setting.camera.fit();
    this.open();
    this.tell(`${map.name}, ${map.width} by ${map.height} cells`);
  }

  private async openFile(file: File): Promise<void> {
    try {
      if (file.size > 2 ** 28) throw new MapError(`${file.name} is larger than ${written(2 ** 28)} bytes, too large for a map`);
      const map = parseMap(new Uint8Array(await file.arrayBuffer()), file.name);
      this.openMap(map, null);
    } catch (error) {
      if (!(error instanceof MapError || error instanceof EngineError)) throw error;
      this.say(error.message);
    }
  }

  // --- controls ---

  private toggle(): void {
    if (this.session.playing || this.session.rushing) this.session.pause();
    else if (this.session.over) {
      this.restart();
      this.session.play();
    } else this.session.play();
  }

  private rush(): void {
    if (this.session.rushing) this.session.pause();
    else this.session.rush();
  }

  private setTool(tool: Tool): void {
    this.setting.tool = tool;
    for (const [name, button] of this.toolButtons) button.setAttribute("aria-pressed", String(name === tool));
  }

  private fit(): void {
    this.setting.camera.fit();
    this.session.repaint();
  }

  private toggleTheme(): void {
    const dark = getComputedStyle(this.root).colorScheme.includes("dark") && isDark();
    document.documentElement.style.colorScheme = dark ? "light" : "dark";
    this.recolour();
  }

  private recolour(): void {
    this.setting.colours = readColours(this.root);
    this.session.repaint();
  }

  private listen(): void {
    document.addEventListener("keydown", (event) => this.key(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
    new ResizeObserver(() => this.session.repaint()).observe(this.stage);
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) void this.openFile(file);
    });
    addEventListener("hashchange", () => void this.openLink());
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || this.help.isOpen) return;
    const target = event.target as HTMLElement;
    if (target.closest("input:not([type=range]):not([type=checkbox]), select, textarea")) return;
    if (event.key === " " && target.closest("button, summary, input:not([type=range]), a")) return;
    const actions: Record<string, () => void> = {
      " ": () => this.toggle(),
      ".": () => this.session.step(),
      ",": () => this.session.back(),
      t: () => this.session.think(),
      e: () => this.rush(),
      r: () => this.restart(),
      d: () => this.toggleTheme(),
      "?": () => this.help.open(),
      "0": () => this.fit(),
      "+": () => this.zoom(1.5),
      "=": () => this.zoom(1.5),
      "-": () => this.zoom(1 / 1.5),
      "1": () => this.setTool("move"),
      "2": () => this.setTool("wall"),
      "3": () => this.setTool("erase"),
    };
    const action = actions[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  }

  private zoom(factor: number): void {
    this.setting.camera.zoomBy(factor);
    this.session.repaint();
  }

  // --- messages ---

  private tell(text: string): void {
    this.live.textContent = text;
  }

  /** Show a sentence on the page until something else is opened. */
  say(text: string | null): void {
    this.notice.hidden = text === null;
    this.notice.textContent = text ?? "";
  }

  private changed(): void {
    const { session } = this;
    if (!session) return;
    const busy = session.playing || session.rushing;
    setIcon(this.playButton, busy ? "pause" : "play", busy ? "Pause" : "Play", "Space");
    const { beatName } = session;
    setIcon(this.stepButton, "on", `One ${beatName}`, ".");
    setIcon(this.backButton, "back", `One ${beatName} back`, ",");
    const crowd = session instanceof CrowdSession;
    this.thinkButton.disabled = crowd;
    this.saveSoon();
  }

  private tellTime(): void {
    const { session } = this;
    this.scrubber.min = String(session.first);
    this.scrubber.max = String(Math.max(1, session.last));
    this.scrubber.value = String(session.at);
    const text = `${session.beatName} ${written(session.at)}`;
    if (this.clock.textContent !== text) this.clock.textContent = text;
    if (session instanceof WalkSession && session.race) this.racePanel.show(session);
  }

  // --- frames ---

  private frame(now: number): void {
    const before = this.lastFrame || now;
    const seconds = Math.min(0.1, (now - before) / 1000);
    this.lastFrame = now;
    const begun = performance.now();
    if (this.session.frame(seconds)) {
      this.tellTime();
      this.meter.measure(performance.now() - begun, now - before);
    }
    requestAnimationFrame((next) => this.frame(next));
  }

  // --- the link ---

  private saveSoon(): void {
    clearTimeout(this.saveTimer);
    this.saveTimer = window.setTimeout(() => void this.save(), 800);
  }

  private async save(): Promise<void> {
    if (this.session.playing || this.session.rushing) return;
    const fragment = await toFragment(this.current());
    history.replaceState(null, "", `#${fragment}`);
  }

  /** The page's address with the whole scene in it. */
  private async link(): Promise<string> {
    const fragment = await toFragment(this.current());
    return `${location.href.split("#")[0]}#${fragment}`;
  }

  private async openLink(): Promise<void> {
    const scene = await sceneOfLink(this.engine, (text) => this.say(text));
    if (!scene) return;
    this.scene = scene;
    this.open();
  }
}

function isDark(): boolean {
  const forced = document.documentElement.style.colorScheme;
  return forced ? forced === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function legend(): HTMLElement {
  const entries = [
    ["flash", "expanded for the last move"],
    ["expanded", "expanded before"],
    ["heat", "learned, little to much"],
    ["start", "start"],
    ["goal", "goal"],
    ["agent", "agent"],
    ["plan", "plan"],
    ["optimal", "optimal path"],
  ];
  return h("ul", { class: "legend" }, ...entries.map(([name, text]) => h("li", {}, h("span", { class: `key key-${name}`, "aria-hidden": "true" }), text!)));
}
