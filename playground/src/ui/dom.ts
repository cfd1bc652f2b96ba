/** Small building blocks of the page. */

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

/** Make an element. Attributes that are functions become event listeners; false and null ones are left out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value as EventListener);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, String(value));
  }
  made.append(...children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false));
  return made;
}

const ICONS = {
  play: "M7 4.5v15l12-7.5z",
  pause: "M6 4.5h4.5v15H6zM13.5 4.5H18v15h-4.5z",
  restart: "M5 4.5h2.5v15H5zM19 4.5v15L8.5 12z",
  back: "M16 5v14L5.5 12zM16.5 5H19v14h-2.5z",
  on: "M8 5v14l10.5-7zM5 5h2.5v14H5z",
  think: "M12 3a6.5 6.5 0 0 0-4 11.6V17h8v-2.4A6.5 6.5 0 0 0 12 3zM8.5 18.5h7v2.5h-7z",
  end: "M4 5v14l8-7zM12 5v14l8-7zM20 5h1.5v14H20z",
  close: "M6 4.6L4.6 6l6 6-6 6L6 19.4l6-6 6 6 1.4-1.4-6-6 6-6L18 4.6l-6 6z",
  plus: "M11 4h2v7h7v2h-7v7h-2v-7H4v-2h7z",
  minus: "M4 11h16v2H4z",
  fit: "M3 3h7v2H5v5H3zM14 3h7v7h-2V5h-5zM3 14h2v5h5v2H3zM19 14h2v7h-7v-2h5z",
  pan: "M12 2l3 3h-2v6h6V9l3 3-3 3v-2h-6v6h2l-3 3-3-3h2v-6H5v2l-3-3 3-3v2h6V5H9z",
  wall: "M3 5h8v4H3zM13 5h8v4h-8zM3 11h4v4H3zM9 11h8v4H9zM19 11h2v4h-2zM3 17h8v3H3zM13 17h8v3h-8z",
  erase: "M14.5 3.5l6 6L11 19H21v2H6.5L3 17.5zM6 17l2 2h.200l4-4-3.7-3.7z",
  start: "M12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zm0 2a7 7 0 1 0 0 14 7 7 0 0 0 0-14z",
  goal: "M5 3h2v1h12l-3 4.5 3 4.5H7v8H5z",
  help: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm-1 14h2v2h-2zm1-10a4 4 0 0 1 4 4c0 2.5-3 2.8-3 5h-2c0-3.2 3-3 3-5a2 2 0 0 0-4 0H8a4 4 0 0 1 4-4z",
  theme: "M12 3a9 9 0 1 0 0 18zM12 3v2a7 7 0 0 1 0 14v2a9 9 0 0 0 0-18z",
  keep: "M5 3h11l4 4v14H4V3zm2 2v5h8V5zm5 8a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
} as const;

export type Icon = keyof typeof ICONS;

export function icon(name: Icon): SVGSVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** Make a button with an icon. Its label is read aloud, and shown as a hint with its key. */
export function iconButton(name: Icon, label: string, action: () => void, key = ""): HTMLButtonElement {
  const made = h("button", { type: "button", class: "icon-button", click: () => action() });
  setIcon(made, name, label, key);
  return made;
}

export function setIcon(button: HTMLButtonElement, name: Icon, label: string, key = ""): void {
  button.replaceChildren(icon(name));
  button.setAttribute("aria-label", label);
  if (key) button.setAttribute("aria-keyshortcuts", key);
  button.title = key ? `${label} (${key})` : label;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

export function select(
  label: string,
  choices: readonly Choice[],
  value: string,
  action: (value: string) => void,
): HTMLSelectElement {
  const made = h("select", { "aria-label": label });
  made.append(...choices.map((choice) => h("option", { value: choice.value }, choice.label)));
  made.value = value;
  made.addEventListener("change", () => action(made.value));
  return made;
}

export function checkbox(label: string, checked: boolean, action: (checked: boolean) => void): HTMLLabelElement {
  const box = h("input", { type: "checkbox" });
  box.checked = checked;
  box.addEventListener("change", () => action(box.checked));
  return h("label", { class: "check" }, box, h("span", {}, label));
}

/** A slider with its own scale, whose value is shown beside it. */
export class Slider {
  readonly root: HTMLLabelElement;
  readonly input: HTMLInputElement;
  private readonly output = h("output");

  constructor(
    label: string,
    private readonly scale: { least: number; most: number; step: number; read: (at: number) => number; write: (at: number) => string },
    at: number,
    action: (value: number) => void,
  ) {
    const { least, most, step } = scale;
    this.input = h("input", { type: "range", min: least, max: most, step });
    this.root = h("label", { class: "slider" }, h("span", {}, label), this.input, this.output);
    this.input.addEventListener("input", () => {
      this.show();
      action(this.value);
    });
    this.at = at;
  }

  get value(): number {
    return this.scale.read(Number(this.input.value));
  }

  set at(at: number) {
    this.input.value = String(at);
    this.show();
  }

  private show(): void {
    const text = this.scale.write(Number(this.input.value));
    this.output.textContent = text;
    this.input.setAttribute("aria-valuetext", text);
  }
}

export function section(title: string, ...children: Child[]): HTMLElement {
  return h("section", { class: "panel" }, h("h2", {}, title), ...children);
}

export function written(number: number): string {
  return number.toLocaleString("en-US");
}

export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  if (count < 1e6) return `${(count / 1e3).toFixed(count < 1e4 ? 1 : 0)} kB`;
  return `${(count / 1e6).toFixed(count < 1e7 ? 1 : 0)} MB`;
}

/** Let the browser save a file. */
export function download(name: string, data: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([data], { type }));
  const link = h("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
