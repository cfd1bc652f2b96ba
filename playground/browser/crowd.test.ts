import { afterAll, describe, expect, it } from "vitest";
import { clock, close, drag, open, settled } from "./open";

afterAll(close);

describe("a crowd", () => {
  it("of 1,000 units walks for 1,000 ticks without an error, a leak or a late frame", async () => {
    const { page, faults } = await open();
    await page.getByRole("button", { name: "Crowd", exact: true }).click();
    await page.getByLabel("Speed").fill("5.5");
    await page.keyboard.press("Space");
    await expect.poll(() => clock(page), { timeout: 60_000 }).toBeGreaterThan(100);
    const heap = (): Promise<number> =>
      page.evaluate(() => {
        (globalThis as { gc?: () => void }).gc?.();
        return (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize;
      });
    const before = await heap();
    await expect.poll(() => clock(page), { timeout: 120_000 }).toBeGreaterThan(1000);
    await page.keyboard.press("Space");
    const after = await heap();
    const meter = await page.locator(".meter").evaluate((element) => ({ ...(element as HTMLElement).dataset }));
    console.log(`heap ${before} to ${after} bytes; frames ${JSON.stringify(meter)} ms`);
    expect(after - before).toBeLessThan(4e6);
    expect(await page.locator('[data-fact="walking"]').innerText()).toMatch(/^\d/);
    expect(faults).toEqual([]);
  });

  it("takes new walls, another budget, other errands, bodies and other agents", async () => {
    const { page, faults } = await open();
    await page.getByRole("button", { name: "Crowd", exact: true }).click();
    await page.keyboard.press("Space");
    await page.keyboard.press("2");
    await drag(page, [40, 10], [40, 60], [96, 72]);
    await page.getByLabel("Budget in a tick").fill("6");
    await page.waitForTimeout(500);
    await settled(page);
    await page.getByLabel("Where units go").selectOption("goal");
    await page.waitForTimeout(300);
    await page.getByLabel("Where units go").selectOption("anywhere");
    await page.waitForTimeout(300);
    await page.getByText("bodies: one unit to a cell").click();
    await page.waitForTimeout(500);
    await page.getByText("give arrived units new goals").click();
    await page.getByLabel("Algorithm of the crowd").first().selectOption("rta");
    await page.getByRole("slider", { name: /^Units/ }).fill("8");
    await page.getByRole("slider", { name: /^Units/ }).dispatchEvent("change");
    await page.keyboard.press("e");
    await page.waitForTimeout(1500);
    await page.getByRole("button", { name: "Start again on the current map" }).click();
    expect(await clock(page)).toBe(0);
    await page.getByRole("button", { name: "One tick", exact: true }).click();
    await settled(page);
    expect(await clock(page)).toBe(1);
    expect(faults).toEqual([]);
  });

  it("goes back a tick, is shown again, and takes another course from there", async () => {
    const { page, faults } = await open();
    await page.getByRole("button", { name: "Crowd", exact: true }).click();
    for (let k = 0; k < 5; k++) await page.keyboard.press(".");
    await settled(page);
    expect(await clock(page)).toBe(5);
    const walking = (): Promise<string> => page.locator('[data-fact="expansions"]').innerText();
    const last = await walking();
    await page.keyboard.press(",");
    await page.keyboard.press(",");
    await settled(page);
    expect(await clock(page)).toBe(3);
    await page.keyboard.press(".");
    await page.keyboard.press(".");
    await settled(page);
    expect(await clock(page)).toBe(5);
    expect(await walking()).toBe(last);
    await page.getByLabel("Moment of the walk").fill("2");
    await settled(page);
    expect(await clock(page)).toBe(2);
    await page.keyboard.press("2");
    await drag(page, [40, 10], [40, 60], [96, 72]);
    expect(Number(await page.getByLabel("Moment of the walk").getAttribute("max"))).toBe(2);
    await page.keyboard.press(".");
    await settled(page);
    expect(await clock(page)).toBe(3);
    expect(faults).toEqual([]);
  });
});
