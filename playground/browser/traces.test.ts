import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, expect, it } from "vitest";
import { close, drag, drop, emptyMap, open } from "./open";

afterAll(close);

it("traces of three agents, for Python to read", async () => {
  const { page, faults } = await open();
  await page.keyboard.press("e");
  await expect.poll(() => page.locator(".status", { hasText: "arrived" }).count(), { timeout: 60_000 }).toBe(3);
  for (let k = 0; k < 3; k++) {
    await page.getByLabel("Agent whose trace is kept").focus();
    await page.getByLabel("Agent whose trace is kept").selectOption(String(k));
    for (const label of ["Trace", "Trace for Posthoc"]) {
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: label, exact: true }).click()]);
      copyFileSync((await file.path())!, join(process.env.ANDANTE_OUT!, file.suggestedFilename()));
    }
  }
  expect(faults).toEqual([]);
});

/** Put the cursor of the first board on a cell, by the keyboard. */
async function point(page: Page, [x, y]: [number, number], [width, height]: [number, number]): Promise<void> {
  const board = page.locator(".board").first();
  await board.focus();
  await page.keyboard.press("ArrowUp"); // from the middle
  for (let k = 0; k < width; k++) await page.keyboard.press("ArrowLeft");
  for (let k = 0; k < height; k++) await page.keyboard.press("ArrowUp");
  for (let k = 0; k < x; k++) await page.keyboard.press("ArrowRight");
  for (let k = 0; k < y; k++) await page.keyboard.press("ArrowDown");
}

async function save(page: Page, prefix: string): Promise<void> {
  for (const label of ["Trace", "Trace for Posthoc"]) {
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: label, exact: true }).click()]);
    copyFileSync((await file.path())!, join(process.env.ANDANTE_OUT!, prefix + file.suggestedFilename()));
  }
}

const SIZE: [number, number] = [24, 16];

it("traces of three agents that walked while walls were drawn and erased and the goal moved", async () => {
  const { page, faults } = await open();
  await drop(page, "edited.map", emptyMap(...SIZE));
  for (let k = 0; k < 4; k++) await page.keyboard.press(".");
  await page.keyboard.press("2");
  await drag(page, [12, 1], [12, 14], SIZE);
  await page.keyboard.press(".");
  await page.keyboard.press("3");
  await drag(page, [12, 10], [12, 10], SIZE);
  await page.keyboard.press("1");
  for (let k = 0; k < 3; k++) await page.keyboard.press(".");
  await point(page, [20, 2], SIZE);
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await expect.poll(() => page.locator(".status", { hasText: "arrived" }).count(), { timeout: 60_000 }).toBe(3);
  for (let k = 0; k < 3; k++) {
    await page.getByLabel("Agent whose trace is kept").focus();
    await page.getByLabel("Agent whose trace is kept").selectOption(String(k));
    await save(page, "edited-");
  }
  expect(faults).toEqual([]);
});

it.skipIf(!process.env.ANDANTE_TRACE)("a trace that Python wrote is opened, and its agent walks again", async () => {
  const { page, faults } = await open();
  const text = readFileSync(process.env.ANDANTE_TRACE!, "utf8");
  await drop(page, "scene.json", text);
  expect(await page.locator(".tile").count()).toBe(1);
  await page.keyboard.press("e");
  await expect.poll(() => page.locator(".status", { hasText: /arrived|no path/ }).count(), { timeout: 60_000 }).toBe(1);
  await save(page, "again-");
  await drop(page, "new.json", text.replace('"version":2', '"version":3'));
  expect(await page.locator(".notice").innerText()).toBe("new.json is a trace of version 3, this page reads versions 1 to 2; open it in a newer page");
  await drop(page, "cut.json", text.slice(0, 500));
  expect(await page.locator(".notice").innerText()).toBe("cut.json is not a trace: it is not JSON, or not all of it");
  await drop(page, "other.json", '{"a": 1}');
  expect(await page.locator(".notice").innerText()).toBe("other.json is neither a map nor a trace of Andante");
  expect(await page.locator(".tile").count()).toBe(1);
  expect(faults).toEqual([]);
});
