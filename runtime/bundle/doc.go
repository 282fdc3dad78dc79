// Package bundle turns a worker's source files into programs that any number
// of goja runtimes can share.
//
// The shape, and why. goja has no modules and lacks some syntax, so esbuild
// lowers each FILE by itself to a CommonJS function, a unit. Files are the
// unit, never one bundle per entry point: a module that two entry points
// import is one module, with one set of classes and one state. Two esbuild
// builds are nested:
//
//   - The outer build (scan.go) finds the graph. It owns one resolver and its
//     cache, and follows esbuild's own rules for packages, conditions, tsconfig
//     paths and aliases. For each file it asks this package for the contents,
//     and gets a stub that holds nothing but the file's imports.
//   - The inner build (transform.go) lowers one file. Every import is external
//     there, so the output keeps `import_x.name` at every use: live bindings,
//     and the hook on which deferred evaluation hangs. Its result depends on
//     the file's content alone and is cached on disk under its hash, so a warm
//     start parses stubs.
//
// Three parts are packages of their own: mend repairs what goja does otherwise than
// V8, toplevel cuts prebuilt bundles into their modules, sourcemap maps positions.
//
// link.go puts the two together: who imports whom, which names each module
// exports, which modules may wait until they are first used, which wait for a
// top-level await. load.go evaluates a linked bundle inside one goja runtime.
//
// Deferred evaluation: most of the cost of a large bundle is module code that
// a worker never uses (schemas built at the top level). A module of a package
// that declares "sideEffects": false, or that stands on the curated list, is
// evaluated when one of its exports is first read. Until then its namespace is
// an object whose getters do that. Modules of the project itself, CommonJS
// modules, and modules that await at the top level always run in import order.
// Where the host asks for it (Host.Ahead), deferred modules that the entry
// imports are evaluated one by one once the bundle is loaded.
package bundle
