#!/usr/bin/env node
// Runs the executable of this system with the same arguments, streams and signals.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { binary } = require("../binary.cjs");

let path;
try {
  path = binary();
} catch (error) {
  console.error(`minido: ${error.message}`);
  process.exit(1);
}
// What minido tells people to type next is what they typed.
const env = process.env.npm_command === "exec" ? { ...process.env, MINIDO_COMMAND: "npx minido" } : process.env;
const child = spawn(path, process.argv.slice(2), { stdio: "inherit", env });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  // A terminal sends SIGINT to both; the child decides when it ends.
  process.on(signal, () => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on("error", (error) => {
  console.error(`minido: ${path}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
