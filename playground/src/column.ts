/** A growing array of numbers of one type. */

type Numbers = Uint8Array | Int32Array | Float32Array | Float64Array;
type Maker<T extends Numbers> = new (length: number) => T;

export class Column<T extends Numbers> {
  length = 0;
  private data: T;

  constructor(private readonly make: Maker<T>) {
    this.data = new make(64);
  }

  at(index: number): number {
    return this.data[index]!;
  }

  push(value: number): void {
    this.reserve(1);
    this.data[this.length++] = value;
  }

  append(values: ArrayLike<number>): void {
    this.reserve(values.length);
    this.data.set(values, this.length);
    this.length += values.length;
  }

  truncate(length: number): void {
    this.length = Math.min(this.length, length);
  }

  /** The numbers; a view, valid until more come. */
  view(): T {
    return this.data.subarray(0, this.length) as T;
  }

  /** Return how many of the ascending numbers are at most the given one. */
  countUpTo(limit: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.data[middle]! <= limit) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private reserve(more: number): void {
    if (this.length + more <= this.data.length) return;
    const larger = new this.make(Math.max(this.data.length * 2, this.length + more));
    larger.set(this.data.subarray(0, this.length));
    this.data = larger;
  }
}
