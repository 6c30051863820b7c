// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Writes dist/ (with fixed names, reproducibly) or, with --test, builds and runs the unit tests.
import {spawnSync} from "node:child_process";
import {copyFileSync, mkdtempSync, readdirSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {build} from "esbuild";

const shared = {
  bundle: true,
  jsx: "automatic",
  jsxImportSource: "preact",
  target: ["es2022"],
  legalComments: "none",
  logLevel: "warning",
  absWorkingDir: import.meta.dirname,
};

if (process.argv.includes("--test")) {
  const out = mkdtempSync(join(tmpdir(), "weft-page-"));
  const tests = readdirSync(join(import.meta.dirname, "src"), {recursive: true}).filter((name) =>
    name.endsWith(".test.ts"),
  );
  await build({
    ...shared,
    entryPoints: tests.map((name) => join("src", name)),
    outdir: out,
    outExtension: {".js": ".mjs"},
    format: "esm",
    platform: "node",
    sourcemap: "inline",
  });
  const {status} = spawnSync(process.execPath, ["--test", "--enable-source-maps", out], {stdio: "inherit"});
  rmSync(out, {recursive: true});
  process.exit(status ?? 1);
}

// Two files share a third: app.js is the first screen, later.js the other views.
await build({
  ...shared,
  entryPoints: {app: "src/app.tsx"},
  outdir: "dist",
  format: "esm",
  splitting: true,
  chunkNames: "[name]",
  minify: true,
});
await build({...shared, entryPoints: {app: "src/style.css"}, outdir: "dist", minify: true});
for (const name of ["index.html", "icon.svg"]) {
  copyFileSync(join(import.meta.dirname, "src", name), join(import.meta.dirname, "dist", name));
}
