// name(parameter=value, ...): read, checked against the cards, and written in its normal form, as Python does.

import type { CodedParameter } from "./about";
import { type Card, EngineError, type Parameter, type Value } from "./types";

export interface Setting {
  card: Card;
  values: Map<string, Value>; // of all parameters that can be set
}

const TOKEN = /\s*(?:([-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf\b))|([A-Za-z_][\w.+-]*)|([(),=]))/y;
const MOST_CHARACTERS = 4096;

export function understood(text: string, cards: readonly Card[]): Setting {
  const tokens = tokensOf(text);
  const name = tokens.shift();
  if (name === undefined || !/^[A-Za-z_]/.test(name)) {
    throw new EngineError(`${quoted(text)} is not an algorithm; write name(parameter=value, ...)`);
  }
  const card = cards.find((one) => one.name === name);
  if (card === undefined) {
    throw new EngineError(`there is no algorithm '${name}'; the known names are ${cards.map((one) => one.name).join(", ")}`);
  }
  const values = new Map(card.parameters.map((one) => [one.name, one.default]));
  for (const [key, value] of argumentsOf(text, tokens)) {
    const parameter = card.parameters.find((one) => one.name === key);
    if (parameter === undefined) {
      const names = card.parameters.map((one) => one.name).join(", ");
      throw new EngineError(`${card.name} has no parameter '${key}'; ${names ? `it has ${names}` : "it has none"}`);
    }
    values.set(key, checked(parameter, value));
  }
  return { card, values };
}

function tokensOf(text: string): string[] {
  if (text.length > MOST_CHARACTERS) throw new EngineError(`an algorithm has at most ${MOST_CHARACTERS} characters`);
  const tokens: string[] = [];
  const end = text.trimEnd().length;
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < end; ) {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(text);
    if (found === null) {
      const strange = text.slice(at).trim().slice(0, 1);
      throw new EngineError(`${quoted(text)} has '${strange}' where a name, a number or one of ( ) , = is expected`);
    }
    tokens.push((found[1] ?? found[2] ?? found[3])!);
  }
  return tokens;
}

function argumentsOf(text: string, tokens: string[]): Map<string, string> {
  const found = new Map<string, string>();
  if (tokens.length === 0) return found;
  if (tokens[0] !== "(") throw new EngineError(`${quoted(text)} has '${tokens[0]}' after the end of the algorithm`);
  let at = 1;
  while (tokens[at] !== ")") {
    const [key, equals, value] = tokens.slice(at, at + 3);
    if (key === undefined) throw new EngineError(`${quoted(text)} lacks a closing bracket`);
    if (equals !== "=" || value === undefined || /^[(),=]$/.test(value)) {
      throw new EngineError(`${quoted(text)} has '${key}' where parameter=value is expected`);
    }
    if (found.has(key)) throw new EngineError(`${quoted(text)} gives '${key}' twice`);
    found.set(key, value);
    at += 3;
    if (tokens[at] === ",") at += 1;
    else if (tokens[at] !== ")") throw new EngineError(`${quoted(text)} lacks a closing bracket`);
  }
  if (at + 1 < tokens.length) throw new EngineError(`${quoted(text)} has '${tokens[at + 1]}' after the end of the algorithm`);
  return found;
}

function checked(parameter: Parameter, text: string): Value {
  const wrong = new EngineError(`${parameter.name} must be ${parameter.allowed}, got ${text}`);
  const lower = text.toLowerCase();
  if (lower === "none" && parameter.optional) return null;
  let value: Value;
  if (parameter.kind === "bool") {
    if (lower !== "true" && lower !== "false") throw wrong;
    value = lower === "true";
  } else if (parameter.kind === "choice") {
    value = text;
  } else {
    value = /^[-+]?inf$/.test(text) ? (text.startsWith("-") ? -Infinity : Infinity) : Number(text);
    if (Number.isNaN(value) || (parameter.kind === "int" && !Number.isSafeInteger(value))) throw wrong;
    if (value < (parameter.least ?? -Infinity) || value > (parameter.most ?? Infinity)) throw wrong;
  }
  if (parameter.kind === "choice" && !parameter.values?.includes(value)) throw wrong;
  if (parameter.values !== null && !parameter.values.includes(value)) {
    const offered = parameter.values.map((one) => written(parameter, one)).join(", ");
    throw new EngineError(`${parameter.name}=${text} is not available on this page; choose among ${offered}`);
  }
  return value;
}

export function normal({ card, values }: Setting): string {
  const changed = card.parameters.filter((one) => values.get(one.name) !== one.default);
  const shown = changed.map((one) => `${one.name}=${written(one, values.get(one.name)!)}`);
  return shown.length === 0 ? card.name : `${card.name}(${shown.join(", ")})`;
}

export function written(parameter: { kind: Parameter["kind"] }, value: Value): string {
  if (value === null) return "none";
  if (typeof value !== "number" || parameter.kind !== "float") return String(value);
  return float(value);
}

/** Write a number as Python does. */
function float(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) {
    return value.toExponential().replace(/e([-+])(\d)$/, "e$10$2");
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

/** Return a value as the 64 bits that kernels expect. */
export function coded(parameter: CodedParameter, value: Value): bigint {
  const isFloat = parameter.kind === "float";
  if (value === null) return isFloat ? bits(NaN) : -1n;
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (typeof value === "string") return BigInt(parameter.words[value]!);
  return isFloat ? bits(value) : BigInt(value);
}

function bits(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigInt64(0);
}

function quoted(text: string): string {
  return `'${text.length > 60 ? `${text.slice(0, 60)}...` : text}'`;
}
