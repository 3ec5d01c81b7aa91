// Builds the player into the Python package, or, with "tests", the tests for node.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const built = join(here, "..", "src", "tailwork", "view", "player", "built");
const common = { bundle: true, absWorkingDir: here, logLevel: "warning" };

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** SHA-256 over all that the result depends on: path, NUL, content, NUL of each file, in order of their paths. */
function digest() {
  const files = [
    ...filesIn(join(here, "src")),
    ...["build.mjs", "package.json", "package-lock.json"].map((name) => join(here, name)),
  ];
  const named = files
    .map((file) => [relative(here, file).split(sep).join("/"), file])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const sum = createHash("sha256");
  for (const [name, file] of named) sum.update(`${name}\0`).update(readFileSync(file)).update("\0");
  return sum.digest("hex");
}

function licences() {
  const texts = ["three", "uplot"].map(
    (name) => `${name}: ${readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim()}`,
  );
  return `/*!\nHolds parts of three.js and uPlot.\n\n${texts.join("\n\n")}\n*/`;
}

async function buildPlayer() {
  const result = await build({
    ...common,
    entryPoints: { player: "src/main.ts" },
    outdir: built,
    write: false,
    format: "iife",
    target: ["chrome100", "firefox110", "safari16"],
    minify: true,
    charset: "utf8",
    legalComments: "none",
  });
  mkdirSync(built, { recursive: true });
  for (const file of result.outputFiles) {
    const head = `/* source ${digest()} */\n`;
    const text = head + (file.path.endsWith(".js") ? `${licences()}\n` : "") + file.text;
    // Either would end or confuse the element that holds it in a page.
    if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${file.path} cannot stand in a page as it is`);
    writeFileSync(file.path, text);
    console.log(`${relative(here, file.path)}: ${(Buffer.byteLength(text) / 1000).toFixed(0)} kB`);
  }
}

async function buildTests() {
  const outdir = join(here, "node_modules", ".tests");
  rmSync(outdir, { recursive: true, force: true });
  await build({
    ...common,
    entryPoints: filesIn(join(here, "tests")).map((file) => relative(here, file)),
    outdir,
    format: "esm",
    platform: "node",
    outExtension: { ".js": ".mjs" },
    entryNames: "[name]",
  });
}

await (process.argv[2] === "tests" ? buildTests() : buildPlayer());
