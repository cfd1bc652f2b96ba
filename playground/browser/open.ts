/** Opens the page in headless Chromium, and records everything that should not happen. */

import { chromium, type Browser, type Page } from "playwright-core";

import { WHOLE } from "../src/view/board";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--js-flags=--expose-gc", "--enable-precise-memory-info"];

export interface Opened {
  readonly page: Page;
  /** Errors of the page, and requests for anything that is not in it. */
  readonly faults: string[];
}

let browser: Browser | null = null;

export async function open(options: { width?: number; height?: number; dark?: boolean; touch?: boolean; hash?: string; file?: string } = {}): Promise<Opened> {
  const { width = 1400, height = 900, dark = false, touch = false, hash = "", file = process.env.ANDANTE_PAGE } = options;
  browser ??= await chromium.launch({ executablePath: process.env.ANDANTE_CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    hasTouch: touch,
    acceptDownloads: true,
    deviceScaleFactor: width < 500 ? 2 : 1,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || faults.push(`request of ${request.url()}`));
  await page.goto(`file://${file}${hash}`);
  await page.waitForSelector(".board", { timeout: 60_000 });
  return { page, faults };
}

export async function close(): Promise<void> {
  await browser?.close();
  browser = null;
}

/** Return the number beside a title, of the first agent or another. */
export async function number(page: Page, title: string, tile = 0): Promise<number> {
  const text = await page.locator(".tile").nth(tile).locator("dl > div", { hasText: title }).locator("dd").innerText();
  return Number(text.replaceAll(",", ""));
}

export async function clock(page: Page): Promise<number> {
  return Number((await page.locator(".clock").innerText()).replace(/\D/g, ""));
}

export async function settled(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

/** Drop a file on the page. */
export async function drop(page: Page, name: string, content: string | Uint8Array): Promise<void> {
  const bytes = typeof content === "string" ? [...new TextEncoder().encode(content)] : [...content];
  const data = await page.evaluateHandle(
    ({ name: file, bytes: all }) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(all)], file));
      return transfer;
    },
    { name, bytes },
  );
  await page.dispatchEvent("main", "drop", { dataTransfer: data });
  await settled(page);
}

/** Return an empty map whose start and goal are known: its upper left and lower right corner. */
export function emptyMap(width: number, height: number): string {
  return `type octile\nheight ${height}\nwidth ${width}\nmap\n${`${".".repeat(width)}\n`.repeat(height)}`;
}

/** Drag over the map of a board, in cells, with the mouse. */
export async function drag(page: Page, from: [number, number], to: [number, number], size: [number, number], tile = 0): Promise<void> {
  const box = (await page.locator(".board").nth(tile).boundingBox())!;
  const scale = WHOLE * Math.min(box.width / size[0], box.height / size[1]);
  const place = ([x, y]: [number, number]): [number, number] => [
    box.x + box.width / 2 + (x + 0.5 - size[0] / 2) * scale,
    box.y + box.height / 2 + (y + 0.5 - size[1] / 2) * scale,
  ];
  await page.mouse.move(...place(from));
  await page.mouse.down();
  await page.mouse.move(...place(to), { steps: 12 });
  await page.mouse.up();
  await settled(page);
}
