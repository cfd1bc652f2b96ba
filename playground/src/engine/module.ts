// The WebAssembly module, and its error messages.

import { Memory } from "./memory";
import { EngineError } from "./types";

type Call = (...numbers: number[]) => number;

export class Module {
  readonly memory: Memory;
  private readonly exports: Record<string, WebAssembly.ExportValue>;

  private constructor(exports: WebAssembly.Exports) {
    this.exports = exports;
    const { memory, __heap_base: base } = exports as { memory: WebAssembly.Memory; __heap_base: WebAssembly.Global };
    this.memory = new Memory(memory, Number(base.value));
  }

  static async load(code: Uint8Array): Promise<Module> {
    const now = (): number => performance.now() * 1e6; // nanoseconds, for budgets in time
    const { instance } = await WebAssembly.instantiate(new Uint8Array(code), { env: { now } });
    return new Module(instance.exports);
  }

  /** Call a function of the module; if it returns an error code, throw an error with its message. */
  call(name: string, ...numbers: number[]): number {
    const code = (this.exports[name] as Call)(...numbers);
    if (code < 0) throw new EngineError(this.text((this.exports["andante_error_text"] as Call)(code)));
    return code;
  }

  private text(at: number): string {
    const bytes = this.memory.bytes();
    return new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
  }
}
