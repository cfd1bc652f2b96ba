import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { close, drop, emptyMap, open, settled } from "./open";

afterAll(close);

describe("what is dropped on the page", () => {
  it("a good map is shown, and saved unchanged", async () => {
    const { page, faults } = await open();
    const text = "type octile\nheight 4\nwidth 6\nmap\n......\n.@@T..\n.SWW..\n......\n";
    await drop(page, "mine.map", text);
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Map", exact: true }).click()]);
    expect(file.suggestedFilename()).toBe("mine.map");
    expect(readFileSync((await file.path())!, "utf8")).toBe(text);
    expect(faults).toEqual([]);
  });

  it.each([
    ["nothing", ""],
    ["a picture", "\x89PNG\r\n\x1a\n"],
    ["rows missing", "type octile\nheight 4\nwidth 3\nmap\n...\n"],
    ["a strange cell", "type octile\nheight 1\nwidth 3\nmap\n.x.\n"],
    ["too large", "type octile\nheight 32000\nwidth 32000\nmap\n"],
    ["only walls", "type octile\nheight 1\nwidth 3\nmap\n@@@\n"],
    ["markup", "<img src=x onerror=alert(1)>"],
  ])("a bad one is refused with a sentence, and nothing is lost: %s", async (_, content) => {
    const { page, faults } = await open();
    const agents = await page.locator(".tile figcaption strong").allInnerTexts();
    await drop(page, "bad <b>name</b>.map", content);
    const said = await page.locator(".notice").innerText();
    expect(said).toMatch(/^bad <b>name<\/b>/);
    expect(said).not.toContain("\n");
    await page.keyboard.press(".");
    await settled(page);
    expect(await page.locator(".tile figcaption strong").allInnerTexts()).toEqual(agents);
    await drop(page, "good.map", emptyMap(12, 12));
    expect(await page.locator(".notice").isVisible()).toBe(false);
    expect(faults).toEqual([]);
  });

  it("a map of 1024 x 1024 cells is walked and drawn", async () => {
    const { page, faults } = await open();
    await page.getByLabel("Kind of map").selectOption("rooms");
    await page.locator("label.field", { hasText: "width" }).first().locator("input").fill("1024");
    await page.locator("label.field", { hasText: "height" }).first().locator("input").fill("1024");
    await page.getByRole("button", { name: "Generate" }).click();
    await page.getByLabel("Speed").fill("9");
    await page.keyboard.press("Space");
    await page.waitForTimeout(6000);
    const frame = Number(await page.locator(".meter").getAttribute("data-mean"));
    console.log(`1024 x 1024, three agents: ${frame} ms a frame`);
    expect(frame).toBeGreaterThan(0);
    expect(faults).toEqual([]);
  });
});

describe("what is kept", () => {
  it("the whole scene in the link", async () => {
    const first = await open();
    await drop(first.page, "mine.map", emptyMap(17, 13));
    await first.page.getByRole("button", { name: "Race", exact: true }).click();
    await first.page.getByLabel("Layout").selectOption("one");
    await first.page.getByRole("button", { name: "Copy link" }).click();
    await expect.poll(() => first.page.evaluate(() => location.hash.length)).toBeGreaterThan(50);
    const hash = await first.page.evaluate(() => location.hash);
    expect(await first.page.evaluate(() => navigator.clipboard.readText())).toContain(hash);
    const second = await open({ hash });
    expect(await second.page.getByRole("button", { name: "Race", exact: true }).getAttribute("aria-pressed")).toBe("true");
    expect(await second.page.locator(".board").count()).toBe(1);
    const [file] = await Promise.all([second.page.waitForEvent("download"), second.page.getByRole("button", { name: "Map", exact: true }).click()]);
    expect(readFileSync((await file.path())!, "utf8")).toBe(emptyMap(17, 13));
    const broken = await open({ hash: `${hash.slice(0, -20)}AAAA` });
    expect(await broken.page.locator(".notice").innerText()).toMatch(/link/);
    expect([...first.faults, ...second.faults, ...broken.faults]).toEqual([]);
  });

  it("picture, film, traces, and the lines of Python", async () => {
    const { page, faults } = await open();
    await page.keyboard.press("e");
    await expect.poll(() => page.locator(".status", { hasText: "arrived" }).count(), { timeout: 60_000 }).toBe(3);
    const save = async (label: string): Promise<Buffer> => {
      const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: label, exact: true }).click()]);
      return readFileSync((await file.path())!);
    };
    expect((await save("Picture")).subarray(1, 4).toString()).toBe("PNG");
    const trace = JSON.parse((await save("Trace")).toString());
    expect([trace.format, trace.algorithm, trace.outcome]).toEqual(["andante-trace", "lrta", "GOAL"]);
    const posthoc = JSON.parse((await save("Trace for Posthoc")).toString());
    expect([posthoc.version, posthoc.events.at(-1).outcome]).toEqual(["1.4.0", "goal"]);
    await page.getByRole("button", { name: "Record a film" }).click();
    await page.waitForTimeout(1500);
    const film = await save("Stop and save");
    expect(film.length).toBeGreaterThan(1000);
    await page.getByText("The lines of Python").click();
    await expect.poll(() => page.locator("pre").innerText()).toContain("andante.generate(");
    expect(faults).toEqual([]);
  });
});
