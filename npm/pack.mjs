// Makes the npm packages from the binaries of a release: `minido`, and one package for
// each system with its executable, as optional dependencies. node npm/pack.mjs [DIST]
// reads DIST/bin/OS-ARCH/ and writes the tarballs to DIST/npm.

import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const dist = resolve(process.argv[2] ?? join(root, "dist"));
const version = readFileSync(join(root, "internal/version/VERSION"), "utf8").trim();
const { systems } = createRequire(import.meta.url)("./minido/binary.cjs");

const out = join(dist, "npm");
mkdirSync(out, { recursive: true });
const work = mkdtempSync(join(tmpdir(), "minido-npm-"));
try {
  const packed = systems.filter((system) => platform(system));
  if (packed.length === 0) throw new Error(`${join(dist, "bin")} has no binaries: run make release first`);
  main();
  for (const system of systems) if (!packed.includes(system)) console.log(`no binary for ${system}: its package is not made`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** Go's names for a system of Node's. */
function folder(system) {
  const [os, arch] = system.split("-");
  return `${os === "win32" ? "windows" : os}-${arch === "x64" ? "amd64" : arch}`;
}

function platform(system) {
  const [os, cpu] = system.split("-");
  const name = os === "win32" ? "minido.exe" : "minido";
  const binary = join(dist, "bin", folder(system), name);
  if (!existsSync(binary)) return false;
  const dir = join(work, system);
  mkdirSync(join(dir, "bin"), { recursive: true });
  copyFileSync(binary, join(dir, "bin", name));
  chmodSync(join(dir, "bin", name), 0o755);
  write(dir, { name: `@minido/${system}`, version, description: `The executable of minido for ${system}.`, os: [os], cpu: [cpu], preferUnplugged: true, files: ["bin"] });
  writeFileSync(join(dir, "README.md"), `The executable of minido ${version} for ${system}. Install the package minido.\n`);
  pack(dir);
  return true;
}

function main() {
  const dir = join(work, "minido");
  cpSync(join(root, "npm/minido"), dir, { recursive: true });
  chmodSync(join(dir, "bin/minido.cjs"), 0o755);
  const manifest = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
  manifest.version = version;
  manifest.optionalDependencies = Object.fromEntries(systems.map((system) => [`@minido/${system}`, version]));
  write(dir, manifest);
  pack(dir);
}

function write(dir, manifest) {
  writeFileSync(join(dir, "package.json"), JSON.stringify(manifest, null, 2) + "\n");
}

function pack(dir) {
  // Scripts of a package are not run: there are none. The shell finds npm.cmd on Windows.
  const name = execFileSync("npm", ["pack", "--silent", "--pack-destination", out, dir], { cwd: work, encoding: "utf8", shell: process.platform === "win32" });
  console.log(join(out, name.trim()));
}
