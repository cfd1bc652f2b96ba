import { afterAll, describe, expect, it } from "vitest";
import { clock, close, drag, drop, emptyMap, number, open, settled } from "./open";

afterAll(close);

const SIZE: [number, number] = [40, 30];

describe("a map that changes while agents walk", () => {
  it("walls are drawn and erased, the goal moves, and going back undoes it", async () => {
    const { page, faults } = await open();
    await drop(page, "empty.map", emptyMap(...SIZE));
    await page.getByLabel("Speed").fill("2");
    await page.keyboard.press("Space");
    await page.waitForTimeout(800);
    await page.keyboard.press("2");
    await drag(page, [20, 2], [20, 27], SIZE);
    await page.keyboard.press("3");
    await drag(page, [20, 14], [20, 16], SIZE);
    await page.keyboard.press("1");
    await drag(page, [39, 29], [39, 3], SIZE);
    await page.keyboard.press("e");
    await expect.poll(() => page.locator(".status", { hasText: "arrived" }).count(), { timeout: 30_000 }).toBe(3);
    expect(await page.locator(".tile").first().locator("dl > div", { hasText: "Times optimal" }).locator("dd").innerText()).toBe("–");
    const end = await clock(page);
    const board = page.locator(".board").first();
    const pixels = (): Promise<string> => board.evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
    const after = await pixels();
    await page.locator(".scrubber").fill("0");
    await settled(page);
    expect((await pixels()) === after).toBe(false);
    await page.locator(".scrubber").fill(String(end));
    await settled(page);
    expect((await pixels()) === after).toBe(true);
    expect(faults).toEqual([]);
  });

  it("a change in the past starts another walk", async () => {
    const { page, faults } = await open();
    await drop(page, "empty.map", emptyMap(...SIZE));
    await page.keyboard.press("e");
    await expect.poll(() => page.locator(".status", { hasText: "arrived" }).count(), { timeout: 30_000 }).toBe(3);
    const moves = await number(page, "Moves");
    expect(moves).toBe(39);
    await page.locator(".scrubber").fill("5");
    await page.keyboard.press("2");
    await drag(page, [15, 0], [15, 27], SIZE);
    expect(await clock(page)).toBe(5);
    await page.keyboard.press("e");
    await expect.poll(() => page.locator(".status", { hasText: "arrived" }).count(), { timeout: 30_000 }).toBe(3);
    expect(await number(page, "Moves")).toBeGreaterThan(moves);
    expect(faults).toEqual([]);
  });

  it("a goal that is walled in is reported as unreachable, until it is freed", async () => {
    const { page, faults } = await open();
    await drop(page, "empty.map", emptyMap(...SIZE));
    await page.keyboard.press(".");
    await page.keyboard.press("2");
    await drag(page, [28, 29], [28, 18], SIZE); // not so near that the goal would be dragged
    await drag(page, [28, 18], [39, 18], SIZE);
    await page.keyboard.press("e");
    await expect.poll(() => page.locator(".status", { hasText: /no path|stuck/ }).count(), { timeout: 60_000 }).toBe(3);
    await page.keyboard.press("3");
    await drag(page, [34, 18], [36, 18], SIZE);
    await page.keyboard.press("e");
    await expect.poll(() => page.locator(".status", { hasText: "arrived" }).count(), { timeout: 60_000 }).toBe(3);
    expect(faults).toEqual([]);
  });
});
