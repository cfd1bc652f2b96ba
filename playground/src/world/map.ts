/**
 * Maps, and the MovingAI map format by the rules of src/andante/world/mapfiles.py, with the same limits and messages.
 * tests/playground/test_rules.py compares the two.
 */

export const PASSABLE = ".GS";
export const BLOCKED = "@OTW";
export const GROUND = code(".");
export const WALL = code("@");
const MAX_SIDE = 32_000;
const MAX_CELLS = 2 ** 27;
/** The largest map of a page: six agents and their pictures on it take some hundred megabytes. */
export const MOST_CELLS = 2 ** 22;

const MOST_DIGITS = 10;
const HEADER_BYTES = 256;
const NEWLINE = 10;
const IS_PASSABLE = lookup(PASSABLE);
const IS_LEGAL = lookup(PASSABLE + BLOCKED);

export class MapError extends Error {}

/** A table of map characters. */
export interface GridMap {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** The characters' codes, row by row from the top. */
  readonly terrain: Uint8Array;
}

export function passable(character: number): boolean {
  return IS_PASSABLE[character] === 1;
}

/** Return whether a character represents a cell of a map. */
export function isLegal(character: number): boolean {
  return IS_LEGAL[character] === 1;
}

export function mapText(map: GridMap): string {
  const rows = Array.from({ length: map.height }, (_, y) =>
    String.fromCharCode(...map.terrain.subarray(y * map.width, (y + 1) * map.width)),
  );
  return `type octile\nheight ${map.height}\nwidth ${map.width}\nmap\n${rows.join("\n")}\n`;
}

/** Return the map in the bytes of a `.map` file; `where` is the file's name in errors. */
export function parseMap(data: Uint8Array, where: string, name = where.replace(/\.map$/i, "")): GridMap {
  const { height, width, start } = header(data.subarray(0, HEADER_BYTES), where);
  // Rows may end in two characters, and blank lines may follow the last.
  if (data.length > start + height * (width + 2) + HEADER_BYTES) {
    throw new MapError(
      `${where} continues after the ${height} rows of ${width} cells that its header announces (lines 2 and 3); ` +
        "correct the height and width or cut the file",
    );
  }
  const terrain = rows(data.subarray(start), height, width, where);
  if (height * width > MOST_CELLS) {
    throw new MapError(
      `${where} has ${grouped(width * height)} cells; the playground takes maps of up to ${grouped(MOST_CELLS)} cells`,
    );
  }
  return { name, width, height, terrain };
}

function header(data: Uint8Array, where: string): { height: number; width: number; start: number } {
  const values: string[] = [];
  let start = 0;
  for (const [k, field] of ["type", "height", "width", "map"].entries()) {
    const newline = data.subarray(start, start + HEADER_BYTES).indexOf(NEWLINE);
    const end = newline < 0 ? -1 : start + newline;
    const line = strip(new TextDecoder("utf-8", { ignoreBOM: true }).decode(data.subarray(start, end < 0 ? start + HEADER_BYTES : end)));
    const [found, value] = splitOnce(line);
    if (found !== field || (end < 0 && field !== "map") || (field === "map" && value !== "")) {
      const expected = field === "type" ? "type octile" : field === "map" ? "map" : `${field} and a number`;
      throw new MapError(`${where}, line ${k + 1}: expected '${expected}', found ${quote(line)}; is this a .map file?`);
    }
    values.push(value);
    start = end < 0 ? data.length : end + 1;
  }
  const [type, tall, wide] = values as [string, string, string, string];
  if (type !== "octile") {
    throw new MapError(`${where}, line 1: the type of map is ${quote(type)}, but only 'octile' is supported`);
  }
  const height = side(tall, "height", 2, where);
  const width = side(wide, "width", 3, where);
  if (height * width > MAX_CELLS) {
    const limit = grouped(MAX_CELLS);
    throw new MapError(`${where} announces ${width} x ${height} cells (lines 2 and 3); the limit is ${limit} cells`);
  }
  return { height, width, start };
}

function side(text: string, field: string, line: number, where: string): number {
  const value = text.length <= MOST_DIGITS && /^[0-9]+$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= MAX_SIDE) return value;
  throw new MapError(
    `${where}, line ${line}: ${field} must be a whole number from 1 to ${MAX_SIDE}, not ${quote(text)}`,
  );
}

function rows(body: Uint8Array, height: number, width: number, where: string): Uint8Array {
  const cells = tidyRows(body, height, width) ?? untidyRows(body, height, width, where);
  const strange = cells.findIndex((character) => IS_LEGAL[character] !== 1);
  if (strange >= 0) {
    const y = Math.floor(strange / width);
    const rest = cells.subarray(strange, (y + 1) * width);
    throw new MapError(strangeCell(rest, where, 5 + y, 1 + strange - y * width));
  }
  return cells;
}

/** Return the cells if every row has the right length and ends in a plain newline. */
function tidyRows(body: Uint8Array, height: number, width: number): Uint8Array | null {
  const whole = height * (width + 1);
  if (body.length !== whole && body.length !== whole - 1) return null;
  const cells = new Uint8Array(height * width);
  for (let y = 0; y < height; y++) {
    const row = body.subarray(y * (width + 1), y * (width + 1) + width);
    const end = body[y * (width + 1) + width];
    if (row.includes(NEWLINE) || (end !== NEWLINE && end !== undefined)) return null;
    cells.set(row, y * width);
  }
  return cells;
}

/** Return the cells of a file with other line ends or trailing blank lines; refuse ragged rows and truncation. */
function untidyRows(body: Uint8Array, height: number, width: number, where: string): Uint8Array {
  const lines = splitLines(body);
  while (lines.length > 0 && isBlank(lines[lines.length - 1]!)) lines.pop();
  for (const [y, line] of lines.slice(0, height).entries()) {
    if (line.length === width) continue;
    const strange = line.findIndex((character) => IS_LEGAL[character] !== 1);
    if (strange >= 0) throw new MapError(strangeCell(line.subarray(strange), where, 5 + y, 1 + strange));
    throw new MapError(
      `${where}, line ${5 + y}: this row has ${line.length} cells; the header (line 3) says ${width}`,
    );
  }
  if (lines.length < height) {
    const announced = `the ${height} rows that its header (line 2) announces`;
    throw new MapError(`${where} ends after ${lines.length} of ${announced}`);
  }
  if (lines.length > height) {
    throw new MapError(
      `${where}, line ${5 + height}: more rows than the ${height} that the header (line 2) announces`,
    );
  }
  const cells = new Uint8Array(height * width);
  lines.forEach((line, y) => cells.set(line, y * width));
  return cells;
}

function splitLines(body: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let from = 0; from <= body.length; ) {
    const found = body.indexOf(NEWLINE, from);
    const end = found < 0 ? body.length : found;
    lines.push(body.subarray(from, end > from && body[end - 1] === 13 ? end - 1 : end));
    from = end + 1;
  }
  return lines;
}

function isBlank(line: Uint8Array): boolean {
  return line.every((character) => character === 32 || (character >= 9 && character <= 13));
}

function strangeCell(rest: Uint8Array, where: string, line: number, column: number): string {
  let what = `the byte 0x${rest[0]!.toString(16).padStart(2, "0")}, which is not UTF-8 text`;
  for (const length of [4, 3, 2, 1]) {
    const text = decoded(rest.subarray(0, length));
    if (text !== null) what = quote(text);
  }
  const allowed = `${[...PASSABLE].join(" ")} (passable) and ${[...BLOCKED].join(" ")} (blocked); others need a cost`;
  return `${where}, line ${line}, column ${column}: found ${what}; a map is made of ${allowed}`;
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Return text as Python's messages show it: quoted, on one line, and not too long. */
function quote(text: string): string {
  const letters = [...text];
  const shown = letters.length <= 40 ? text : `${letters.slice(0, 40).join("")}...`;
  const mark = shown.includes("'") && !shown.includes('"') ? '"' : "'";
  const escaped = [...shown].map((letter) => escape(letter, mark)).join("");
  return `${mark}${escaped}${mark}`;
}

function escape(letter: string, mark: string): string {
  const short: Record<string, string> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  if (letter === mark) return `\\${letter}`;
  if (letter in short) return short[letter]!;
  if (/[\p{C}\p{Z}]/u.test(letter) && letter !== " ") {
    const point = letter.codePointAt(0)!;
    if (point < 256) return `\\x${point.toString(16).padStart(2, "0")}`;
    return point < 65536 ? `\\u${point.toString(16).padStart(4, "0")}` : `\\U${point.toString(16).padStart(8, "0")}`;
  }
  return letter;
}

// The characters that Python's str.strip and str.split treat as white space.
const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const ENDS = new RegExp(`^${SPACE}+|${SPACE}+$`, "g");
const FIRST_SPACE = new RegExp(`${SPACE}+`);

function strip(text: string): string {
  return text.replace(ENDS, "");
}

function splitOnce(line: string): [string, string] {
  const found = FIRST_SPACE.exec(line);
  return found ? [line.slice(0, found.index), line.slice(found.index + found[0].length)] : [line, ""];
}

function grouped(number: number): string {
  return number.toLocaleString("en-US");
}

function lookup(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const character of characters) table[code(character)] = 1;
  return table;
}

function code(character: string): number {
  return character.charCodeAt(0);
}
