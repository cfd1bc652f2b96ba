/** How the tiles of a stage are arranged. */

const TILE_EDGES = 40; // pixels of a tile beside its map
const TILE_TEXTS = 110; // pixels of a tile above and below it
const LEAST_TILE = 280;

/** Arrange tiles in the number of columns that makes the map in them largest. */
export function arrange(root: HTMLElement, count: number, map: { width: number; height: number }): void {
  const { clientWidth: width, clientHeight: height } = root;
  const narrow = matchMedia("(max-width: 60rem)").matches;
  let [best, largest] = [1, 0];
  for (let columns = 1; columns <= count; columns++) {
    const across = (width / columns - TILE_EDGES) / map.width;
    const down = narrow ? across : (height / Math.ceil(count / columns) - TILE_TEXTS) / map.height;
    const scale = narrow && width / columns < LEAST_TILE ? 0 : Math.min(across, down);
    // On a narrow page, which scrolls, tiles are as large as possible; otherwise all are visible together.
    if (scale > largest * 1.02) [best, largest] = [columns, scale];
  }
  root.style.gridTemplateColumns = `repeat(${best}, minmax(0, 1fr))`;
}
