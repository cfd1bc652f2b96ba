import "../../src/andante/report/static/colours.css";
import "./style.css";
import { App } from "./app";
import { embedded, loadEngine } from "./engine/index";
import { sceneOfLink } from "./start";
import { h } from "./ui/dom";

async function open(): Promise<void> {
  const root = document.getElementById("app")!;
  try {
    const code = await embedded("andante-engine");
    if (!code) throw new Error("this page contains no agents; andante play writes one that does");
    const engine = await loadEngine(code, (await embedded("andante-scene")) ?? undefined);
    let fault = "";
    const scene = await sceneOfLink(engine, (text) => (fault = text));
    const app = new App(root, engine, scene);
    if (fault) app.say(fault);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    root.replaceChildren(h("p", { class: "opening", role: "alert" }, `The playground cannot be opened: ${said}.`));
    throw error;
  }
}

void open();
