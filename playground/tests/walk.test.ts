import { describe, expect, it } from "vitest";
import { type Plan, terrainAt, Walk } from "../src/walk";
import { naiveEngine } from "./naive";
import { mapOf } from "./maps";

const MAP = mapOf(["..........", ".@@@@@@@@.", "..........", ".@@@@@@@@.", ".........."]);

function walk(part: Partial<Plan> = {}): Walk {
  return new Walk(naiveEngine, { map: MAP, start: 21, goal: 28, notations: ["lrta", "lrta"], sight: null, budget: null, events: [], ...part });
}

function finish(one: Walk): Walk {
  for (let k = 0; k < 10_000 && !one.over; k++) one.advance();
  return one;
}

const path = (one: Walk): number[] => [...one.walkers[0]!.history.state.view()];

describe("a walk", () => {
  it("follows free cells to the goal, one move in a beat", () => {
    const done = finish(walk());
    expect(path(done)).toEqual([22, 23, 24, 25, 26, 27, 28]);
    expect(done.beat).toBe(7);
    expect(done.walkers[0]!.ending).toBe("arrived");
    expect(done.walkers[0]!.history.walked.at(6)).toBe(done.optimal!.cost);
  });

  it("is the same after going back and forward again", () => {
    const whole = finish(walk({ start: 0, goal: 49 }));
    const again = walk({ start: 0, goal: 49 });
    for (let k = 0; k < 6; k++) again.advance();
    again.rewind(2);
    expect(again.beat).toBe(2);
    expect(path(finish(again))).toEqual(path(whole));
  });

  it("takes walls into account that are drawn while agents walk, and repeats them when it is repeated", () => {
    const one = walk();
    one.advance();
    expect(one.edit([25, 22, 28], false, 1)).toEqual([25]); // not under agents, nor on the goal
    expect(path(finish(one))).not.toContain(25);
    const before = path(one);
    expect(terrainAt(MAP, one.events, 0)[25]).toBe(".".charCodeAt(0));
    expect(terrainAt(MAP, one.events, 1)[25]).toBe("@".charCodeAt(0));
    one.rewind(one.beat);
    expect(path(one)).toEqual(before);
    const same = finish(walk({ events: one.events }));
    expect(path(same)).toEqual(before);
  });

  it("takes another path from the move that is changed, and discards what came after", () => {
    const one = finish(walk());
    one.edit([24], false, 1);
    expect(one.beat).toBe(1);
    expect(path(one)).toEqual([22]);
    expect(path(finish(one))).not.toContain(24);
  });

  it("pursues a goal that moves, also after having arrived", () => {
    const one = finish(walk());
    expect(one.retarget(24, one.beat)).toBe(true);
    expect(one.over).toBe(false);
    expect(path(finish(one)).at(-1)).toBe(24);
    expect(one.retarget(11, one.beat)).toBe(false); // a wall
    expect(one.goalAt(0)).toBe(28);
    expect(one.changed).toBe(true);
  });

  it("lets agents that are cut off wait until there is a path again", () => {
    const one = walk();
    one.advance();
    one.edit([26, 6, 46, 16, 36], false, 1);
    finish(one);
    expect(one.walkers.map((walker) => walker.ending)).toEqual(["unreachable", "unreachable"]);
    expect(one.beat).toBe(2);
    one.edit([46], true, one.beat);
    expect(path(finish(one)).at(-1)).toBe(28);
    const before = path(one);
    one.rewind(one.beat);
    expect(path(one)).toEqual(before);
  });

  it("says why an agent cannot walk, and runs the others", () => {
    const one = finish(walk({ notations: ["needy", "lrta"] }));
    expect(one.walkers[0]!.refusal).toContain("pattern");
    expect(one.walkers[1]!.ending).toBe("arrived");
  });
});

describe("a race", () => {
  it("lets an agent move once its expansions are paid for", () => {
    const slow = finish(walk({ budget: 0.5 })); // the naive agent expands one state for a move
    expect(slow.walkers[0]!.history.beat.at(0)).toBe(2);
    expect(slow.beat).toBe(14);
    const fast = finish(walk({ budget: 100 }));
    expect(fast.beat).toBe(7); // no agent makes two moves in a beat
    expect(path(fast)).toEqual(path(slow));
  });

  it("drops a move that is not made yet when the world changes", () => {
    const one = walk({ budget: 0.5 });
    one.advance();
    expect(one.walkers[0]!.pending?.share).toBe(0.5);
    one.edit([22], false, 1);
    expect(one.walkers[0]!.pending).toBeNull();
    expect(path(finish(one))).not.toContain(22);
  });
});
