/** The last ticks of a crowd, to be shown again: the position, the state and the colour of each unit. */

/** A tick as it is drawn. */
export interface Shown {
  readonly states: Int32Array;
  readonly outcomes: Uint8Array;
  readonly groups: Uint8Array;
}

/** A ring of ticks of fixed size in bytes. */
export class CrowdHistory {
  private readonly states: Int32Array;
  private readonly outcomes: Uint8Array;
  private readonly groups: Uint8Array;
  /** The earliest and the last tick that are kept. */
  first = 0;
  last = -1;

  constructor(
    private readonly units: number,
    private readonly room: number,
  ) {
    this.states = new Int32Array(units * room);
    this.outcomes = new Uint8Array(units * room);
    this.groups = new Uint8Array(units * room);
  }

  /** Keep the next tick. */
  push({ states, outcomes, groups }: Shown): void {
    this.last++;
    this.first = Math.max(this.first, this.last - this.room + 1);
    this.put(this.last, { states, outcomes, groups });
  }

  /** Replace the last tick: units were sent elsewhere after it. */
  amend(shown: Shown): void {
    this.put(this.last, shown);
  }

  private put(tick: number, { states, outcomes, groups }: Shown): void {
    const begin = (tick % this.room) * this.units;
    this.states.set(states.subarray(0, this.units), begin);
    this.outcomes.set(outcomes.subarray(0, this.units), begin);
    this.groups.set(groups.subarray(0, this.units), begin);
  }

  /** Return a tick that is kept; the earliest or the last one instead of those before and after. */
  at(tick: number): Shown {
    const nearest = Math.min(this.last, Math.max(this.first, tick));
    const begin = (nearest % this.room) * this.units;
    const end = begin + this.units;
    return { states: this.states.subarray(begin, end), outcomes: this.outcomes.subarray(begin, end), groups: this.groups.subarray(begin, end) };
  }
}
