// Finds the executable of this system: MINIDO_BINARY, or the one in the optional
// package that npm installed for it.
"use strict";

const systems = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64", "win32-arm64", "win32-x64"];

/** @returns {string} the path of the executable */
function binary() {
  if (process.env.MINIDO_BINARY) return process.env.MINIDO_BINARY;
  const system = `${process.platform}-${process.arch}`;
  if (!systems.includes(system)) {
    throw new Error(`minido has no executable for ${system}; there are ${systems.join(", ")}. Set MINIDO_BINARY to one that you have built.`);
  }
  const name = process.platform === "win32" ? "minido.exe" : "minido";
  try {
    return require.resolve(`@minido/${system}/bin/${name}`);
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
    throw new Error(
      `the package @minido/${system} is not installed. It is an optional dependency of minido: install without ` +
        "--omit=optional (--no-optional), and not with node_modules copied from another system.");
  }
}

module.exports = { binary, systems };
