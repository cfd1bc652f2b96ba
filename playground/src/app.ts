/** The page: it opens scenes, runs them frame by frame, and keeps them in the link. */

import { CrowdSession } from "./crowdsession";
import { readColours } from "./draw";
import type { Engine } from "./engine/types";
import { EngineError } from "./engine/types";
import { KeepPanel } from "./keep/panel";
import { isJson, readTrace, type Recorded } from "./keep/readtrace";
import { RacePanel } from "./race";
import { type Change, redrawn, settled } from "./redraw";
import { type Mode, type Scene, toFragment } from "./scene";
import type { Session, Setting } from "./session";
import { farApart, firstScene, givenMap, sceneOfLink } from "./start";
import { AgentList } from "./ui/agents";
import { crowdControls } from "./ui/crowdpanel";
import { h, Slider, written } from "./ui/dom";
import { listenToKeys } from "./ui/keys";
import { MapPanel } from "./ui/mappanel";
import { type Actions, Shell } from "./ui/shell";
import { onSystemTheme, toggleTheme } from "./ui/theme";
import { Camera, type Tool } from "./view/board";
import type { Layers } from "./view/walkerview";
import { terrainAt } from "./walk";
import { type Layout, WalkSession } from "./walksession";
import type { Recipe } from "./world/generate";
import { type GridMap, MapError, parseMap } from "./world/map";

const MOST_BYTES = 2 ** 28; // of a file
const SAVE_AFTER = 800; // milliseconds without a change
const RACE_BUDGETS = { least: 0, most: 16, step: 0.25, read: (at: number) => Math.round(2 ** at), write: (at: number) => `${written(Math.round(2 ** at))} expansions` };
const SIGHTS = { least: 1, most: 31, step: 1, read: Number, write: (at: number) => (at < 31 ? `${at} ${at === 1 ? "cell" : "cells"} far` : "the whole map") };
const SIGHT_HINT = "Agents that do not see the whole map take cells that they have not seen yet to be free.";
const RACE_HINT = "An agent moves as soon as it has received the expansions that its move needed. Unused expansions are lost, and no agent makes two moves in a beat.";

export class App {
  private scene: Scene;
  private session!: Session & { canvases(): HTMLCanvasElement[] };
  private readonly setting: Setting;
  private readonly shell: Shell;
  private readonly agents: AgentList;
  private readonly sight: Slider;
  private readonly racePanel = new RacePanel();
  private readonly crowdPanel = h("div");
  private shown: Scene | null = null; // the last scene that could be opened
  private lastFrame = 0;
  private saveTimer = 0;

  constructor(
    private readonly root: HTMLElement,
    private readonly engine: Engine,
    scene: Scene | null,
  ) {
    this.scene = scene ?? firstScene(engine);
    const layers: Layers = { expanded: true, learned: true, plan: true, path: true, optimal: false, stale: true };
    this.setting = {
      camera: new Camera(this.scene.map.width, this.scene.map.height),
      colours: readColours(root),
      tool: "move",
      brush: 1,
      speed: this.scene.speed,
      layers,
      announce: (text) => this.shell.announce(text),
      changed: () => this.changed(),
      rebuild: (change) => this.change(change),
    };
    this.agents = new AgentList(engine, this.scene.agents, (agents) => this.replace({ agents, events: [] }));
    this.sight = new Slider("Sight", SIGHTS, SIGHTS.most, (value) => this.replace({ sight: value < SIGHTS.most ? value : null, events: [] }));
    this.shell = this.makeShell(layers);
    this.open();
    this.listen();
    requestAnimationFrame((now) => this.frame(now));
  }

  // --- building the page ---

  private makeShell(layers: Layers): Shell {
    const { engine, scene } = this;
    const { given } = engine;
    const map = new MapPanel(
      (map, recipe) => this.openMap(map, recipe),
      (file) => void this.openFile(file),
      given && (() => this.openMap(givenMap(given), null)),
    );
    if (scene.recipe) map.show(scene.recipe);
    const keep = new KeepPanel({
      engine,
      scene: () => this.current(),
      session: () => this.session,
      announce: (text) => this.shell.announce(text),
      link: () => this.link(),
    });
    const budget = new Slider("Budget in a beat", RACE_BUDGETS, Math.log2(scene.raceBudget), (value) => this.replace({ raceBudget: value, events: [] }));
    const race = [budget.root, h("p", { class: "hint" }, RACE_HINT), this.racePanel.root];
    const agents = h("div", {}, this.agents.root, this.sight.root, h("p", { class: "hint" }, SIGHT_HINT));
    const panels = { agents, race, crowd: this.crowdPanel, map: map.root, keep: keep.root };
    return new Shell(this.root, engine, this.actions(layers), panels, { layers, layout: scene.layout, speed: scene.speed });
  }

  private actions(layers: Layers): Actions {
    return {
      setMode: (mode) => this.setMode(mode),
      setTool: (tool) => this.setTool(tool),
      setBrush: (cells) => (this.setting.brush = cells),
      setSpeed: (beats) => {
        this.setting.speed = this.scene.speed = beats;
        this.changed();
      },
      setLayout: (layout) => this.replace({ layout: layout as Layout }),
      showLayer: (name, shown) => {
        layers[name] = shown;
        this.session.repaint();
      },
      toggle: () => this.toggle(),
      rush: () => this.rush(),
      step: () => this.session.step(),
      back: () => this.session.back(),
      think: () => this.session.think(),
      restart: () => this.restart(),
      seek: (beat) => this.session.seek(beat),
      zoom: (factor) => this.zoom(factor),
      fit: () => this.fit(),
      toggleTheme: () => {
        toggleTheme();
        this.recolour();
      },
    };
  }

  // --- opening scenes ---

  /** Show the scene from its first beat. */
  private open(): void {
    const before = this.session as Session | undefined;
    const { scene, setting } = this;
    before?.dispose();
    if (setting.camera.width !== scene.map.width || setting.camera.height !== scene.map.height) {
      Object.assign(setting, { camera: new Camera(scene.map.width, scene.map.height) });
    }
    try {
      this.session = this.makeSession();
      this.shell.say(null);
    } catch (error) {
      if (!(error instanceof EngineError) || !this.shown) throw error;
      this.shell.say(error.message);
      this.scene = this.shown; // keep what was shown before
      this.session = this.makeSession();
    }
    this.shown = this.scene;
    this.shell.show(this.session.root, scene.mode);
    this.session.repaint(); // now that it has a size
    this.setTool(setting.tool);
    const change = (part: Partial<Scene["crowd"]>): void => this.replace({ crowd: { ...this.scene.crowd, ...part } });
    this.crowdPanel.replaceChildren(...crowdControls(this.engine, this.scene.crowd, change, (budget) => this.spend(budget)));
    this.agents.show(this.scene.agents);
    this.sight.at = this.scene.sight ?? SIGHTS.most;
    this.changed();
  }

  private makeSession(): WalkSession | CrowdSession {
    const { engine, scene, setting } = this;
    const { map, start, goal, mode, events } = scene;
    if (mode === "crowd") return new CrowdSession(engine, setting, { map, goal, ...scene.crowd });
    const budget = mode === "race" ? scene.raceBudget : null;
    return new WalkSession(engine, setting, { map, start, goal, notations: scene.agents, sight: scene.sight, budget, events }, scene.layout);
  }

  /** Change something in the scene and show it from its first beat; walls drawn so far stay. */
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

  /** The scene as it is on the stage now. */
  private current(): Scene {
    const { scene, session } = this;
    if (session instanceof WalkSession) return { ...scene, events: [...session.walk.events] };
    return scene;
  }

  /** Apply what was changed before the first move: it belongs to the map and the problem. */
  private change(part: Change): void {
    this.scene = redrawn(this.scene, part);
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

  /** Return the scene with everything that was drawn while agents walked as part of its map. */
  private settled(): Scene {
    const { scene, session } = this;
    const terrain = session instanceof WalkSession ? terrainAt(scene.map, session.walk.events, Infinity) : session.terrain();
    return settled(scene, terrain, session.marker("goal") ?? scene.goal);
  }

  private openMap(map: GridMap, recipe: Recipe | null): void {
    const ends = farApart(map);
    if (!ends) {
      this.shell.say(`${map.name} has fewer than two connected free cells, so there is nowhere to walk`);
      return;
    }
    this.scene = { ...this.scene, map, recipe, ...ends, events: [] };
    this.setting.camera.fit();
    this.open();
    this.shell.announce(`${map.name}, ${map.width} by ${map.height} cells`);
  }

  /** Run the agent of a trace again, with the same changes. */
  private openTrace(recorded: Recorded): void {
    this.scene = { ...this.scene, mode: "walk", recipe: null, ...recorded };
    this.setting.camera.fit();
    this.open();
    this.shell.announce(`a trace of ${recorded.agents[0]} on ${recorded.map.name}`);
  }

  private async openFile(file: File): Promise<void> {
    try {
      if (file.size > MOST_BYTES) throw new MapError(`${file.name} is larger than ${written(MOST_BYTES)} bytes, too large for a map or a trace`);
      const data = new Uint8Array(await file.arrayBuffer());
      if (isJson(data)) this.openTrace(await readTrace(data, file.name, this.engine));
      else this.openMap(parseMap(data, file.name), null);
    } catch (error) {
      if (!(error instanceof MapError || error instanceof EngineError)) throw error;
      this.shell.say(error.message);
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
    this.shell.showTool(tool);
  }

  private fit(): void {
    this.setting.camera.fit();
    this.session.repaint();
  }

  private recolour(): void {
    this.setting.colours = readColours(this.root);
    this.session.repaint();
  }

  private listen(): void {
    listenToKeys(this.shell.keys(), () => this.shell.help.isOpen);
    onSystemTheme(() => this.recolour());
    new ResizeObserver(() => this.session.repaint()).observe(this.shell.stage);
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) void this.openFile(file);
    });
    addEventListener("hashchange", () => void this.openLink());
  }

  private zoom(factor: number): void {
    this.setting.camera.zoomBy(factor);
    this.session.repaint();
  }

  /** Show a sentence on the page until something else is opened. */
  say(text: string): void {
    this.shell.say(text);
  }

  // --- frames ---

  private changed(): void {
    const { session } = this;
    if (!session) return;
    this.shell.showSession(session, !(session instanceof CrowdSession));
    this.saveSoon();
  }

  private tellTime(): void {
    const { session } = this;
    this.shell.showTime(session);
    if (session instanceof WalkSession && session.race) this.racePanel.show(session);
  }

  private frame(now: number): void {
    const before = this.lastFrame || now;
    const seconds = Math.min(0.1, (now - before) / 1000);
    this.lastFrame = now;
    const begun = performance.now();
    if (this.session.frame(seconds)) {
      this.tellTime();
      this.shell.meter.measure(performance.now() - begun, now - before);
    }
    requestAnimationFrame((next) => this.frame(next));
  }

  // --- the link ---

  private saveSoon(): void {
    clearTimeout(this.saveTimer);
    this.saveTimer = window.setTimeout(() => void this.save(), SAVE_AFTER);
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
    const scene = await sceneOfLink(this.engine, (text) => this.shell.say(text));
    if (!scene) return;
    this.scene = scene;
    this.open();
  }
}
