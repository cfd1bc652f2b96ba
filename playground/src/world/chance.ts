/**
 * The random bits that the library's maps are generated from: NumPy's PCG64, seeded by its SeedSequence.
 *
 * Both are published (O'Neill 2014) and never change, so a seed makes the same map here and in Python. Numbers of 128
 * bits are four words of 32, lowest first.
 */

type Words = [number, number, number, number];

const MULTIPLIER: Words = [0x9fccf645, 0x4385df64, 0x1fc65da4, 0x2360ed05];

/** Write the low 128 bits of a product to `into`. */
function multiply(into: Uint32Array, a: ArrayLike<number>, b: Words): void {
  // By halves of 16 bits: sums of products stay below 2**53.
  const low: number[] = [];
  const high: number[] = [];
  for (let k = 0; k < 4; k++) {
    low.push(a[k]! & 0xffff, a[k]! >>> 16);
    high.push(b[k]! & 0xffff, b[k]! >>> 16);
  }
  let carry = 0;
  for (let k = 0; k < 8; k++) {
    let sum = carry;
    for (let i = 0; i <= k; i++) sum += low[i]! * high[k - i]!;
    carry = Math.floor(sum / 65536);
    const digit = sum % 65536;
    if (k % 2 === 0) into[k >> 1] = digit;
    else into[k >> 1] = (into[k >> 1]! | (digit << 16)) >>> 0;
  }
}

function add(into: Uint32Array, b: ArrayLike<number>): void {
  let carry = 0;
  for (let k = 0; k < 4; k++) {
    const sum = into[k]! + b[k]! + carry;
    into[k] = sum >>> 0;
    carry = sum > 0xffffffff ? 1 : 0;
  }
}

/** Return the first eight words that NumPy's SeedSequence makes of a seed below 2**53. */
export function seedWords(seed: number): number[] {
  const entropy = seed > 0xffffffff ? [seed >>> 0, Math.floor(seed / 2 ** 32)] : [seed >>> 0];
  let constant = 0x43b0d7e5;
  const hash = (value: number): number => {
    let mixed = (value ^ constant) >>> 0;
    constant = Math.imul(constant, 0x931e8875) >>> 0;
    mixed = Math.imul(mixed, constant) >>> 0;
    return (mixed ^ (mixed >>> 16)) >>> 0;
  };
  const mix = (x: number, y: number): number => {
    const mixed = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) >>> 0;
    return (mixed ^ (mixed >>> 16)) >>> 0;
  };
  const pool = Array.from({ length: 4 }, (_, k) => hash(entropy[k] ?? 0));
  for (let from = 0; from < 4; from++) {
    for (let to = 0; to < 4; to++) if (from !== to) pool[to] = mix(pool[to]!, hash(pool[from]!));
  }
  let output = 0x8b51f9dd;
  return Array.from({ length: 8 }, (_, k) => {
    let value = (pool[k % 4]! ^ output) >>> 0;
    output = Math.imul(output, 0x58f38ded) >>> 0;
    value = Math.imul(value, output) >>> 0;
    return (value ^ (value >>> 16)) >>> 0;
  });
}

/** A source of random whole numbers, fixed by its seed. */
export class Chance {
  private readonly state = new Uint32Array(4);
  private readonly increment = new Uint32Array(4);

  constructor(seed: number) {
    const words = seedWords(seed);
    // NumPy reads four numbers of 64 bits: the upper and lower half of the state, then of the stream.
    const first = [words[2]!, words[3]!, words[0]!, words[1]!];
    const stream = [words[6]!, words[7]!, words[4]!, words[5]!];
    for (let k = 0; k < 4; k++) this.increment[k] = (stream[k]! << 1) | (k > 0 ? stream[k - 1]! >>> 31 : 1);
    this.advance();
    add(this.state, first);
    this.advance();
  }

  private advance(): void {
    multiply(this.state, this.state.slice(), MULTIPLIER);
    add(this.state, this.increment);
  }

  /** Return the upper 32 of the next 64 random bits. */
  private upper(): number {
    this.advance();
    const low = (this.state[0]! ^ this.state[2]!) >>> 0;
    const high = (this.state[1]! ^ this.state[3]!) >>> 0;
    const turn = this.state[3]! >>> 26;
    if (turn === 0) return high;
    if (turn < 32) return ((high >>> turn) | (low << (32 - turn))) >>> 0;
    if (turn === 32) return low;
    return ((low >>> (turn - 32)) | (high << (64 - turn))) >>> 0;
  }

  /** Return a whole number from 0 to `bound` - 1, for bounds up to 2**21. */
  below(bound: number): number {
    return Math.floor((this.upper() * bound) / 2 ** 32);
  }

  many(bound: number, count: number): Int32Array {
    const numbers = new Int32Array(count);
    for (let k = 0; k < count; k++) numbers[k] = this.below(bound);
    return numbers;
  }

  /** Return a mask in which each cell is 1 with this probability. */
  cells(count: number, probability: number): Uint8Array {
    const limit = Math.floor(probability * 2 ** 31);
    const mask = new Uint8Array(count);
    // Of bound 2**31 the number is the upper bits, shifted by one.
    for (let k = 0; k < count; k++) mask[k] = this.upper() >>> 1 < limit ? 1 : 0;
    return mask;
  }

  pick(low: number, high: number): number {
    return low + this.below(Math.max(1, high - low + 1));
  }
}
