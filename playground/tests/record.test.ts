import { describe, expect, test } from "vitest";
import { field, type Layout, offsetOf, write } from "../src/engine/record";

const RECORD: Layout = { bytes: 32, fields: { to: [0, "int32"], cost: [8, "float64"], expanded: [16, "int64"], flag: [24, "int32"] } };

describe("records of the module", () => {
  test("what is written is read again, and what is not given is 0", () => {
    const view = new DataView(new ArrayBuffer(64));
    for (let k = 0; k < 64; k++) view.setUint8(k, 255);
    write(view, 16, RECORD, { to: -2, cost: 1.5, expanded: 2 ** 40 });
    expect(["to", "cost", "expanded", "flag"].map((name) => field(view, 16, RECORD, name))).toEqual([-2, 1.5, 2 ** 40, 0]);
    expect(view.getInt32(16, true)).toBe(-2);
    expect(view.getFloat64(24, true)).toBe(1.5);
    expect(view.getBigInt64(32, true)).toBe(2n ** 40n);
    expect(view.getUint8(15)).toBe(255);
    expect(offsetOf(RECORD, "expanded")).toBe(16);
  });
});
