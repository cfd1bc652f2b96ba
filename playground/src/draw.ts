/** The renderer lives beside the reports, which are written without Node (docs/decisions/0031-one-renderer.md). */
export * from "../../src/andante/report/static/draw.js";
