/** The notation name(parameter=value) as menus need it; the engine checks it. */

import type { Card, Parameter, Value } from "./engine/types";

export interface Parts {
  readonly name: string;
  readonly values: ReadonlyMap<string, Value>;
}

/** Split a notation in its normal form into its parts. */
export function parse(notation: string, cards: readonly Card[]): Parts {
  const found = /^([\w-]+)(?:\((.*)\))?$/.exec(notation);
  const name = found?.[1] ?? notation;
  const card = cards.find((one) => one.name === name);
  const values = new Map<string, Value>();
  for (const part of (found?.[2] ?? "").split(",")) {
    const [key, text] = part.split("=").map((piece) => piece.trim());
    const parameter = card?.parameters.find((one) => one.name === key);
    if (parameter && text !== undefined) values.set(parameter.name, read(text, parameter));
  }
  return { name, values };
}

function read(text: string, { kind }: Parameter): Value {
  if (text.toLowerCase() === "none") return null;
  if (kind === "bool") return text.toLowerCase() === "true";
  if (kind === "choice") return text;
  return text === "inf" ? Infinity : Number(text);
}

/** Compose a notation, without the parameters that have their default values. */
export function compose(card: Card, values: ReadonlyMap<string, Value>): string {
  const spelled = card.parameters
    .filter((parameter) => values.has(parameter.name) && values.get(parameter.name) !== parameter.default)
    .map((parameter) => `${parameter.name}=${write(values.get(parameter.name)!)}`);
  return spelled.length > 0 ? `${card.name}(${spelled.join(", ")})` : card.name;
}

export function write(value: Value): string {
  if (value === null) return "none";
  if (value === Infinity) return "inf";
  return String(value);
}
