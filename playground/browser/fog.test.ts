import { afterAll, describe, expect, it } from "vitest";
import { close, number, open, settled } from "./open";

afterAll(close);

/** Return how many values of two pictures differ; what is drawn in parts is mixed a little differently at its edges. */
function differing(one: number[], other: number[]): number {
  return one.filter((value, k) => Math.abs(value - other[k]!) > 8).length;
}

describe("agents that discover their map", () => {
  it("walk under fog that lifts where they come, and arrive", async () => {
    const { page, faults } = await open();
    await page.getByLabel("Sight").fill("4");
    expect(await page.getByLabel("Sight").getAttribute("aria-valuetext")).toBe("4 cells far");
    await settled(page);
    const fog = (): Promise<number[]> =>
      page.locator(".board").first().evaluate((canvas) => {
        const { width, height } = canvas as HTMLCanvasElement;
        return Array.from((canvas as HTMLCanvasElement).getContext("2d")!.getImageData(0, 0, width, height).data);
      });
    const before = await fog();
    await page.keyboard.press("e");
    await expect.poll(() => page.locator(".status", { hasText: "arrived" }).count(), { timeout: 60_000 }).toBe(3);
    const seeing = await number(page, "Moves", 2); // of tba; LRTA* looks no further than it sees
    expect(differing(await fog(), before)).toBeGreaterThan(1000);
    await page.locator(".scrubber").fill("0");
    await settled(page);
    expect(differing(await fog(), before)).toBe(0);
    await page.getByLabel("Sight").fill("31");
    await page.keyboard.press("e");
    await expect.poll(() => page.locator(".status", { hasText: "arrived" }).count(), { timeout: 60_000 }).toBe(3);
    expect(await number(page, "Moves", 2)).not.toBe(seeing);
    expect(faults).toEqual([]);
  });

  it("keep their sight in the link and in the lines of Python", async () => {
    const { page, faults } = await open();
    await page.getByLabel("Sight").fill("7");
    await page.getByText("The lines of Python that do this").click();
    await expect.poll(() => page.locator("pre").innerText()).toContain("sight=7");
    await page.getByRole("button", { name: "Copy link" }).click();
    const hash = await expect.poll(() => page.evaluate(() => location.hash)).not.toBe("").then(() => page.evaluate(() => location.hash));
    const again = await open({ hash });
    expect(await again.page.getByLabel("Sight").inputValue()).toBe("7");
    expect(faults).toEqual([]);
  });
});
