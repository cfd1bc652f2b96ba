// Records of the module. The places of their fields come from Python (andante.export.records), with the engine.

export interface Layout {
  bytes: number;
  fields: Record<string, [number, string]>; // offset and type
}

/** Records that hosts exchange with the module, and records of agents and crowds that the page reads. */
export type Records = Record<
  "MOVE" | "STEP" | "TRIAL" | "TICK" | "BUDGET" | "UNIT" | "CLOCK" | "PLAN" | "PATH" | "ENDS" | "TRACING",
  Layout
>;

export function offsetOf({ fields }: Layout, name: string): number {
  return fields[name]![0];
}

/** Read one field of a record; whole numbers of 64 bits as far as JavaScript's numbers are exact. */
export function field(view: DataView, at: number, { fields }: Layout, name: string): number {
  const [offset, type] = fields[name]!;
  if (type === "float64") return view.getFloat64(at + offset, true);
  if (type === "int32") return view.getInt32(at + offset, true);
  return Number(view.getBigInt64(at + offset, true));
}

/** Write a whole record; what is not given is 0. */
export function write(view: DataView, at: number, { fields }: Layout, values: Record<string, number>): void {
  for (const [name, [offset, type]] of Object.entries(fields)) {
    const value = values[name] ?? 0;
    if (type === "float64") view.setFloat64(at + offset, value, true);
    else if (type === "int32") view.setInt32(at + offset, value, true);
    else view.setBigInt64(at + offset, BigInt(value), true);
  }
}
