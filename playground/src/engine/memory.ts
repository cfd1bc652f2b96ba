// Allocation of the module's memory. Freed pieces are joined and used again.

import { EngineError } from "./types";

const PAGE = 65536;
const ALIGNMENT = 64;
const MOST = 2 ** 32 - PAGE;

interface Gap {
  at: number;
  bytes: number;
}

export class Memory {
  private readonly gaps: Gap[] = []; // in order, never touching
  private readonly taken = new Map<number, number>();
  private end: number;
  used = 0;

  constructor(
    private readonly memory: WebAssembly.Memory,
    begin: number,
  ) {
    this.end = aligned(begin);
  }

  get total(): number {
    return this.memory.buffer.byteLength;
  }

  /** The bytes as they are now: growing makes earlier views useless. */
  bytes(): Uint8Array {
    return new Uint8Array(this.memory.buffer);
  }

  view(): DataView {
    return new DataView(this.memory.buffer);
  }

  /** Allocate this many bytes, which may contain anything. */
  take(wanted: number): number {
    const bytes = aligned(Math.max(wanted, 1));
    const place = this.gaps.findIndex((gap) => gap.bytes >= bytes);
    const gap = this.gaps[place];
    let at: number;
    if (gap !== undefined) {
      at = gap.at;
      if (gap.bytes === bytes) this.gaps.splice(place, 1);
      else this.gaps[place] = { at: at + bytes, bytes: gap.bytes - bytes };
    } else {
      at = this.end;
      this.reach(at + bytes);
      this.end = at + bytes;
    }
    this.taken.set(at, bytes);
    this.used += bytes;
    return at;
  }

  private reach(end: number): void {
    const lacking = end - this.memory.buffer.byteLength;
    if (lacking <= 0) return;
    if (end > MOST) throw tooMuch();
    try {
      this.memory.grow(Math.ceil(lacking / PAGE));
    } catch {
      throw tooMuch();
    }
  }

  give(at: number): void {
    const bytes = this.taken.get(at);
    if (bytes === undefined) return;
    this.taken.delete(at);
    this.used -= bytes;
    let place = this.gaps.findIndex((gap) => gap.at > at);
    if (place < 0) place = this.gaps.length;
    this.gaps.splice(place, 0, { at, bytes });
    this.join(place);
    this.join(place - 1);
    const last = this.gaps[this.gaps.length - 1];
    if (last !== undefined && last.at + last.bytes === this.end) {
      this.end = last.at;
      this.gaps.pop();
    }
  }

  /** Join a gap with the next one if they touch. */
  private join(place: number): void {
    const [gap, next] = [this.gaps[place], this.gaps[place + 1]];
    if (gap !== undefined && next !== undefined && gap.at + gap.bytes === next.at) {
      this.gaps.splice(place, 2, { at: gap.at, bytes: gap.bytes + next.bytes });
    }
  }
}

function tooMuch(): EngineError {
  return new EngineError("there is not enough memory for this; choose a smaller map, or fewer agents");
}

export function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}
