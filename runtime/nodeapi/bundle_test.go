package nodeapi

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dop251/goja"

	"minido.dev/minido/runtime/bundle"
	"minido.dev/minido/runtime/engine"
)

// load bundles files, of which main.js is the entry, and evaluates them with
// the node: modules as builtins.
func (w *world) load(files map[string]string) {
	w.t.Helper()
	dir := w.t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
	b := bundle.New(bundle.Options{Dir: dir, Entry: "main.js", Builtins: Has})
	defer b.Close()
	built, err := b.Build()
	if err != nil {
		w.t.Fatal(err)
	}
	w.e.Turns.Enter(engine.GlobalFrame, "load", func() {
		if _, _, err := built.Load(w.e.VM(), bundle.Host{Builtin: func(spec string) (goja.Value, error) { return w.m.Require(spec) }}); err != nil {
			w.e.Rethrow(err)
		}
	})
	for w.sched.Step() {
	}
}

// Every way of importing a builtin gives the one module: named, default and
// namespace imports, bare names, require() in CommonJS, import().
func TestImports(t *testing.T) {
	w := newWorld(t, Options{})
	w.load(map[string]string{
		"main.js": `
			import { AsyncLocalStorage } from "node:async_hooks";
			import * as hooks from "node:async_hooks";
			import dflt from "node:async_hooks";
			import EventEmitter, { once, EventEmitter as Named } from "events";
			import * as events from "node:events";
			import assert, { ok } from "node:assert";
			import path from "path";
			import { join } from "node:path";
			import process, { env } from "node:process";
			import { Buffer as B } from "node:buffer";
			import { createHash } from "node:crypto";
			import fs, { readFileSync } from "fs";
			import Stream, { Readable } from "node:stream";
			import { legacy } from "./legacy.cjs";
			say(AsyncLocalStorage === hooks.AsyncLocalStorage, dflt.AsyncLocalStorage === AsyncLocalStorage, hooks.default === dflt);
			say(EventEmitter === Named, events.default === EventEmitter, typeof once, new (class extends EventEmitter {})() instanceof Named);
			assert(true); ok(1);
			say(path.join("a", "b"), join("a", "c"), process === globalThis.process, env === process.env, B === Buffer, typeof readFileSync, typeof fs.promises.readFile);
			say(createHash("md5").update("x").digest("hex"), new Readable() instanceof Stream);
			say(legacy.path === path, legacy.Emitter === EventEmitter, legacy.util.types === (legacy.types));
			import("node:os").then((os) => say(os.EOL === "\n", os.default.EOL === "\n", typeof os.platform));
			export default {};`,
		"legacy.cjs": `exports.legacy = { path: require("path"), Emitter: require("node:events"), util: require("util"), types: require("util/types") };`,
	})
	w.said("true true true", "true true function true", "a/b a/c true true true function function",
		"9dd4e461268c8034f5c8564e155c67a6 true", "true true true", "true true function")
}

// What agents 0.32.0 imports at its top level: each name is there, and is what
// it should be.
func TestWhatAgentsImports(t *testing.T) {
	w := newWorld(t, Options{})
	w.load(map[string]string{"main.js": `
		import { AsyncLocalStorage } from "node:async_hooks";
		import { channel, subscribe, unsubscribe } from "node:diagnostics_channel";
		import { createHash, timingSafeEqual } from "node:crypto";
		import { createServer } from "node:http";
		import { spawn } from "node:child_process";
		import { constants } from "node:fs";
		import { chown, copyFile, mkdir, open, readdir, readlink, rm, stat, symlink } from "node:fs/promises";
		import { homedir } from "node:os";
		import { dirname, join, relative, resolve, sep } from "node:path";
		import { createInterface } from "node:readline";
		say([AsyncLocalStorage, channel, subscribe, unsubscribe, createHash, timingSafeEqual, createServer, spawn, chown, copyFile, mkdir, open, readdir,
			readlink, rm, stat, symlink, homedir, dirname, join, relative, resolve, createInterface].every((f) => typeof f === "function"), sep, constants.O_CREAT);
		const inSpan = AsyncLocalStorage.snapshot();
		const als = new AsyncLocalStorage();
		class Agent { store = als.run({ agent: this }, () => AsyncLocalStorage.snapshot()); }
		say(typeof inSpan, new Agent().store(() => typeof als.getStore().agent));
	`})
	w.said("true / 64", "function object")
}
