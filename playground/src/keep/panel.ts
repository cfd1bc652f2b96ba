/** Everything that can be copied or saved: the link, files, pictures, and the lines of Python. */

import { CrowdSession } from "../crowdsession";
import type { Engine } from "../engine/types";
import type { Scene } from "../scene";
import type { Session } from "../session";
import { download, h, section, select } from "../ui/dom";
import { WalkSession } from "../walksession";
import { mapText } from "../world/map";
import { Film, picture } from "./pictures";
import { fileName, python } from "./python";
import { posthocJson, traceJson } from "./trace";

interface Door {
  readonly engine: Engine;
  scene(): Scene;
  session(): Session & { canvases(): HTMLCanvasElement[] };
  announce(text: string): void;
  link(): Promise<string>;
}

const LONGEST_FILM = 20_000; // milliseconds

export class KeepPanel {
  readonly root: HTMLElement;
  private readonly said = h("p", { class: "hint", role: "status" });
  private readonly code = h("pre", { tabindex: 0, "aria-label": "Lines of Python that do this" });
  private readonly record: HTMLButtonElement;
  private readonly which = h("span");
  private film: Film | null = null;

  constructor(private readonly door: Door) {
    const button = (label: string, action: () => void | Promise<void>): HTMLButtonElement =>
      h("button", { type: "button", class: "button", click: () => void this.attempt(action) }, label);
    this.record = button("Record a film", () => this.toggleFilm());
    const lines = h("details", {}, h("summary", {}, "The lines of Python that do this"), this.code);
    lines.addEventListener("toggle", () => this.tellPython());
    this.root = section(
      "Keep",
      h("div", { class: "row wrap" }, button("Copy link", () => this.copyLink()), button("Map", () => this.saveMap()), button("Picture", () => this.savePicture()), this.record),
      h("div", { class: "row wrap traces" }, this.which, button("Trace", () => this.saveTrace(false)), button("Trace for Posthoc", () => this.saveTrace(true))),
      lines,
      this.said,
    );
    this.root.addEventListener("focusin", () => this.offerAgents());
    this.root.addEventListener("pointerenter", () => this.offerAgents());
    this.which.append(select("Agent whose trace is kept", [{ value: "0", label: "first agent" }], "0", () => {}));
  }

  /** Run an action, and show its error as a sentence. */
  private async attempt(action: () => void | Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.say((error as Error).message);
    }
  }

  private say(text: string): void {
    this.said.textContent = text;
  }

  private offerAgents(): void {
    const session = this.door.session();
    const menu = this.which.querySelector("select")!;
    const names = session instanceof WalkSession ? session.walk.walkers.map((walker) => walker.notation) : [];
    const shown = Array.from(menu.options, (option) => option.textContent);
    menu.disabled = names.length === 0;
    if (names.length === 0 || names.join("\n") === shown.join("\n")) return;
    menu.replaceChildren(...names.map((name, k) => h("option", { value: k }, name)));
  }

  private tellPython(): void {
    this.code.textContent = python(this.door.scene(), this.door.engine);
  }

  private async copyLink(): Promise<void> {
    const link = await this.door.link();
    history.replaceState(null, "", `#${link.split("#")[1]}`);
    try {
      await navigator.clipboard.writeText(link);
      this.say(`The link is copied: ${link.length.toLocaleString("en-US")} characters, with the whole scene in it.`);
    } catch {
      this.say("The link is in the address bar; this browser did not let the page copy it.");
    }
  }

  private saveMap(): void {
    const scene = this.door.scene();
    const map = { ...scene.map, terrain: this.door.session().terrain() };
    download(`${fileName(map)}.map`, mapText(map), "text/plain");
    this.say(`Saved ${fileName(map)}.map.`);
  }

  private async savePicture(): Promise<void> {
    const { canvases, paper } = this.stage();
    download("andante.png", await picture(canvases, paper), "image/png");
    this.say("Saved andante.png.");
  }

  private stage(): { canvases: HTMLCanvasElement[]; paper: string } {
    return { canvases: this.door.session().canvases(), paper: getComputedStyle(document.body).backgroundColor };
  }

  private async toggleFilm(): Promise<void> {
    if (this.film) {
      await this.finishFilm();
      return;
    }
    const { canvases, paper } = this.stage();
    const film = new Film(canvases, paper);
    this.film = film;
    this.record.textContent = "Stop and save";
    this.record.setAttribute("aria-pressed", "true");
    this.say(`Recording what the stage shows, for ${LONGEST_FILM / 1000} seconds at most.`);
    const session = this.door.session();
    if (!session.playing) session.play();
    setTimeout(() => this.film === film && void this.attempt(() => this.finishFilm()), LONGEST_FILM);
  }

  private async finishFilm(): Promise<void> {
    const { film } = this;
    this.film = null;
    this.record.textContent = "Record a film";
    this.record.removeAttribute("aria-pressed");
    if (!film) return;
    const name = `andante.${film.extension}`;
    download(name, await film.stop(), `video/${film.extension}`);
    this.say(`Saved ${name}.`);
  }

  private async saveTrace(posthoc: boolean): Promise<void> {
    const session = this.door.session();
    if (session instanceof CrowdSession || !(session instanceof WalkSession)) {
      this.say("A crowd has no trace here; record one with andante crowd --html.");
      return;
    }
    this.offerAgents();
    const walker = session.walk.walkers[Number(this.which.querySelector("select")!.value)] ?? session.walk.walkers[0]!;
    if (session.walk.plan.sight !== null && session.walk.changed) {
      this.say("A trace of an agent that discovers its map is possible only on a map that does not change: start again, and save it then.");
      return;
    }
    const name = `${walker.notation.replace(/\W+/g, "-").replace(/-$/, "")}${posthoc ? ".trace.json" : ".json"}`;
    const json = posthoc ? posthocJson(session.walk, walker) : await traceJson(session.walk, walker);
    download(name, json, "application/json");
    this.say(`Saved ${name}: ${walker.history.moves.toLocaleString("en-US")} moves.`);
  }
}
