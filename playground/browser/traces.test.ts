import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { close, open } from "./open";

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
