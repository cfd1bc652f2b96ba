import { afterAll, describe, expect, it } from "vitest";
import { close, drag, open } from "./open";

afterAll(close);

const SIZE: [number, number] = [48, 40];

describe.skipIf(!process.env.ANDANTE_GIVEN)("a page with databases and levels of its map", () => {
  it("marks what no longer holds when walls are drawn, and lets levels follow", async () => {
    const { page, faults } = await open({ file: process.env.ANDANTE_GIVEN! });
    const choose = async (k: number, name: string): Promise<void> => {
      await page.getByLabel(`Agent ${k + 1}`, { exact: true }).selectOption(name);
    };
    await choose(0, "cpd");
    await choose(1, "pra");
    for (let k = 0; k < 3; k++) await page.keyboard.press(".");
    expect(await page.locator(".status").allInnerTexts()).toEqual(["walking", "walking", "walking"]);
    await page.keyboard.press("2");
    await page.getByLabel("Width of the brush").selectOption("9");
    await drag(page, [24, 10], [24, 30], SIZE);
    const stale = page.locator(".status").first();
    expect(await stale.innerText()).toMatch(/^(walking by its database|searching, as its database led to a wall); \d+ cells have stale entries$/);
    const marked = await page.locator(".board").first().evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
    await page.getByText("stale entries", { exact: true }).click();
    expect(await page.locator(".board").first().evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL())).not.toBe(marked);
    await page.keyboard.press("e");
    await expect.poll(() => page.locator(".status", { hasText: "arrived" }).count(), { timeout: 60_000 }).toBe(3);
    await page.keyboard.press("r"); // the map as it is now still has its databases
    await page.keyboard.press(".");
    expect(await page.locator(".status", { hasText: "stale entries" }).count()).toBe(1);
    await page.keyboard.press("e");
    await expect.poll(() => page.locator(".status", { hasText: "arrived" }).count(), { timeout: 60_000 }).toBe(3);
    expect(faults).toEqual([]);
  });
});
