/** Tests of the finished page in a browser; tests/playground/test_browser.py runs them. ANDANTE_PAGE is the page. */

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["browser/**/*.test.ts"], testTimeout: 180_000, hookTimeout: 60_000, fileParallelism: false },
});
