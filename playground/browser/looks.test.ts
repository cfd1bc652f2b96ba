import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, it } from "vitest";
import { close, open, settled } from "./open";

afterAll(close);

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Return the faults that axe finds, one per line. The page's policy allows no scripts, so the debugger injects axe. */
async function wrongs(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: AXE });
  const found = await session.send("Runtime.evaluate", {
    expression: "axe.run().then((r) => JSON.stringify(r.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target).join(' ')}`)))",
    awaitPromise: true,
    returnByValue: true,
  });
  return JSON.parse(String(found.result.value));
}

describe("the page", () => {
  it.each([
    ["light", false],
    ["dark", true],
  ])("has no accessibility fault that axe finds: %s", async (_, dark) => {
    const { page, faults } = await open({ dark });
    for (const mode of ["Walk", "Race", "Crowd"]) {
      await page.getByRole("button", { name: mode, exact: true }).click();
      await page.keyboard.press(".");
      await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
      await settled(page);
      expect(await wrongs(page), mode).toEqual([]);
    }
    expect(faults).toEqual([]);
  });

  it.each([360, 390, 768, 1400])("fits into %i pixels, and nothing jumps", async (width) => {
    const { page, faults } = await open({ width, height: 800, touch: width < 500 });
    await page.evaluate(() => {
      const shifts: number[] = [];
      Object.assign(globalThis, { shifts });
      new PerformanceObserver((list) => {
        // What follows immediately from a key or a click is meant to move.
        for (const entry of list.getEntries() as unknown as { value: number; hadRecentInput: boolean }[]) {
          if (!entry.hadRecentInput) shifts.push(entry.value);
        }
      }).observe({ type: "layout-shift", buffered: false });
    });
    for (const mode of ["Walk", "Race", "Crowd"]) {
      await page.getByRole("button", { name: mode, exact: true }).click();
      await page.waitForTimeout(700); // shifts right after a click are not counted; those of playing are
      await page.keyboard.press("Space");
      await page.waitForTimeout(1200);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide, mode).toBeLessThanOrEqual(width);
    }
    const shifted = await page.evaluate(() => (globalThis as unknown as { shifts: number[] }).shifts.reduce((sum, one) => sum + one, 0));
    expect(shifted).toBeLessThan(0.01);
    expect(faults).toEqual([]);
  });

  it("allows no foreign content and no eval", async () => {
    const { page } = await open();
    const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute("content");
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^']+' 'wasm-unsafe-eval'; style-src 'sha256-/);
    expect(policy).not.toMatch(/unsafe-inline|'unsafe-eval'|https?:|\*/);
    const session = await page.context().newCDPSession(page);
    const tried = await session.send("Runtime.evaluate", { expression: "new Function('return 1')()", allowUnsafeEvalBlockedByCSP: false });
    expect(tried.exceptionDetails?.exception?.description).toMatch(/Content Security Policy|unsafe-eval/);
  });
});
