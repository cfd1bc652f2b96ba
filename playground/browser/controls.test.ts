import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { clock, close, drag, drop, emptyMap, number, open, settled } from "./open";

afterAll(close);

describe("the controls of a walk", () => {
  it("play, pause, one move, one back, one thought, to the end, and again", async () => {
    const { page, faults } = await open();
    const press = async (key: string): Promise<void> => {
      await page.keyboard.press(key);
      await settled(page);
    };
    expect(await clock(page)).toBe(0);
    await press(".");
    expect([await clock(page), await number(page, "Moves")]).toEqual([1, 1]);
    await press(".");
    await press(",");
    expect(await clock(page)).toBe(1);
    await press("t"); // one thought: the move is not made yet
    expect(await clock(page)).toBe(1);
    for (let k = 0; k < 2000 && (await clock(page)) === 1; k++) await page.keyboard.press("t");
    expect(await clock(page)).toBe(2);
    await press("Space");
    await expect.poll(() => clock(page), { timeout: 20_000 }).toBeGreaterThan(5);
    await press("Space");
    const paused = await clock(page);
    await page.waitForTimeout(200);
    expect(await clock(page)).toBe(paused);
    await press("e");
    await expect.poll(() => page.locator(".status", { hasText: "arrived" }).count(), { timeout: 60_000 }).toBe(3);
    expect(await number(page, "Times optimal")).toBeGreaterThanOrEqual(1);
    await page.locator(".scrubber").fill("3");
    await settled(page);
    expect([await clock(page), await number(page, "Moves")]).toEqual([3, 3]);
    await press("r");
    expect(await clock(page)).toBe(0);
    for (const label of ["Play", "Pause", "One move", "One move back", "One expansion of the next move", "Run to the end"]) {
      await page.getByRole("button", { name: label, exact: true }).click();
      await settled(page);
    }
    await expect.poll(() => page.locator(".status", { hasText: "arrived" }).count(), { timeout: 60_000 }).toBe(3);
    expect(faults).toEqual([]);
  });

  it("tools, zoom, layers, layout, speed, theme and help", async () => {
    const { page, faults } = await open();
    for (const [key, label] of [["2", "Draw walls"], ["3", "Erase walls"], ["1", "Move the map"]] as const) {
      await page.keyboard.press(key);
      expect(await page.getByRole("button", { name: label }).getAttribute("aria-pressed")).toBe("true");
    }
    const before = await page.locator(".board").first().screenshot();
    await page.keyboard.press("+");
    await settled(page);
    expect((await page.locator(".board").first().screenshot()).equals(before)).toBe(false);
    await page.keyboard.press("0");
    await settled(page);
    expect((await page.locator(".board").first().screenshot()).equals(before)).toBe(true);
    await page.locator(".board").first().hover();
    await page.mouse.wheel(0, -400);
    await page.getByRole("button", { name: "Show the whole map" }).click();
    for (const label of ["expanded states", "learned values", "plan", "path", "optimal path"]) await page.getByText(label, { exact: true }).first().click();
    await page.getByLabel("Layout").selectOption("one");
    await settled(page);
    expect(await page.locator(".board").count()).toBe(1);
    expect(await page.locator(".tile tbody tr").count()).toBe(3);
    await page.getByLabel(/Show what/).nth(1).check();
    await page.getByLabel("Layout").selectOption("tiles");
    expect(await page.locator(".board").count()).toBe(3);
    await page.getByLabel("Speed").fill("10");
    expect(await page.locator(".transport .slider output").innerText()).toBe("1,024/s");
    const paper = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    await page.keyboard.press("d");
    expect(await paper()).not.toBe(light);
    await page.keyboard.press("?");
    expect(await page.getByRole("dialog").isVisible()).toBe(true);
    await page.keyboard.press("Escape");
    expect(await page.getByRole("dialog").isVisible()).toBe(false);
    expect(faults).toEqual([]);
  });

  it("agents come from the cards: chosen, set, mistyped, added up to six, removed", async () => {
    const { page, faults } = await open();
    const rows = page.locator(".agent-row");
    await rows.first().locator("summary").click();
    await rows.first().getByLabel("Agent 1 in the notation").fill("lrta(depth=4)");
    await rows.first().getByLabel("Agent 1 in the notation").press("Enter");
    await expect.poll(() => page.locator(".tile figcaption strong").first().innerText()).toBe("lrta(depth=4)");
    await rows.first().getByLabel("Agent 1 in the notation").fill("lrta(depth=0)");
    await rows.first().getByLabel("Agent 1 in the notation").press("Enter");
    await expect.poll(() => rows.first().locator(".fault").innerText()).toMatch(/depth/);
    expect(await page.locator(".tile figcaption strong").first().innerText()).toBe("lrta(depth=4)");
    const depth = rows.first().locator("label.field", { hasText: "depth" }).locator("select");
    await depth.selectOption("2");
    await expect.poll(() => page.locator(".tile figcaption strong").first().innerText()).toBe("lrta(depth=2)");
    for (let k = 3; k < 6; k++) await page.getByRole("button", { name: "Add an agent" }).click();
    expect(await page.locator(".board").count()).toBe(6);
    expect(await page.getByRole("button", { name: "Add an agent" }).isDisabled()).toBe(true);
    const choices = await rows.nth(5).locator("select").first().locator("option").evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value));
    expect(choices).toEqual(expect.arrayContaining(["astar", "lrta", "lss", "rta", "tba"]));
    await rows.nth(5).locator("select").first().selectOption("rta");
    await page.getByLabel("Speed").fill("14");
    await page.keyboard.press("e");
    await expect.poll(() => page.locator(".status", { hasText: "arrived" }).count(), { timeout: 90_000 }).toBe(6);
    await page.getByRole("button", { name: "Remove agent 6" }).click();
    expect(await page.locator(".board").count()).toBe(5);
    expect(faults).toEqual([]);
  });

  it("the keyboard alone draws walls and moves start and goal", async () => {
    const { page, faults } = await open();
    await drop(page, "empty.map", emptyMap(20, 20));
    await page.locator(".board").first().focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("w");
    await page.keyboard.press("ArrowDown");
    await page.locator(".board").first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("g");
    await settled(page);
    const announced = await page.locator("[aria-live]").innerText();
    expect(announced).toBe("goal");
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Map", exact: true }).click()]);
    expect(readFileSync((await file.path())!, "utf8").match(/@/g)?.length).toBe(1);
    expect(faults).toEqual([]);
  });

  it("a race has an order of arrival", async () => {
    const { page, faults } = await open();
    await page.getByRole("button", { name: "Race", exact: true }).click();
    await page.keyboard.press("e");
    await expect.poll(() => page.locator(".race tbody tr td:first-child").allInnerTexts(), { timeout: 60_000 }).toEqual(["1", "2", "3"]);
    const beats = (await page.locator(".race tbody tr td:nth-child(3)").allInnerTexts()).map((text) => Number(text.replaceAll(",", "")));
    expect([...beats].sort((a, b) => a - b)).toEqual(beats);
    expect(faults).toEqual([]);
  });

  it("start and goal are dragged", async () => {
    const { page, faults } = await open();
    await drop(page, "empty.map", emptyMap(30, 20));
    await drag(page, [29, 19], [10, 0], [30, 20]);
    await page.keyboard.press("e");
    await expect.poll(() => page.locator(".status", { hasText: "arrived" }).count(), { timeout: 30_000 }).toBe(3);
    expect(await number(page, "Moves")).toBe(10);
    expect(faults).toEqual([]);
  });
});
