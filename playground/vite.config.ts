import { createHash } from "node:crypto";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/**
 * Make one file of the page, with script and style inside. Its content policy allows these two, WebAssembly, and what
 * the page makes itself (pictures, recordings), but no foreign content and no eval.
 */
function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("the build has no index.html");
      const styles: string[] = [];
      const scripts: string[] = [];
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === "chunk") scripts.push(part.code.replaceAll("</script", "<\\/script").trim());
        else if (name.endsWith(".css")) styles.push(String(part.source).trim());
        else continue;
        delete bundle[name];
      }
      if (scripts.length !== 1 || styles.length !== 1) throw new Error("the page should have one script and one style");
      const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
      const policy = [
        "default-src 'none'",
        `script-src ${hash(scripts[0]!)} 'wasm-unsafe-eval'`,
        `style-src ${hash(styles[0]!)}`,
        "img-src data: blob:",
        "media-src blob:",
        "base-uri 'none'",
        "form-action 'none'",
      ].join("; ");
      page.source = String(page.source)
        .replace(/\s*<script type="module"[^>]*><\/script>/, "")
        .replace(/\s*<link rel="stylesheet"[^>]*>/, "")
        .replace('<meta charset="utf-8">', () => `<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${policy}">`)
        .replace("</head>", () => `<style>${styles[0]}</style>\n</head>`)
        .replace("</body>", () => `<script type="module">${scripts[0]}</script>\n</body>`);
    },
  };
}

export default defineConfig({
  plugins: [oneFile()],
  build: { target: "es2022", cssTarget: "chrome123", modulePreload: false, assetsInlineLimit: 1e6 },
  test: { include: ["tests/**/*.test.ts"] },
});
