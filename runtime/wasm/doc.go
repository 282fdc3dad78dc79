// Package wasm is WebAssembly in Workers: modules that the build imports, and
// the JavaScript API by which they are instantiated (WebAssembly JavaScript
// Interface, W3C). The engine below is wazero, which compiles to machine code.
//
// # What is done to a module
//
// A module is read once (binary.go), so that its imports, exports and types are
// known, and written anew (rewrite.go) before wazero sees it:
//
//   - its imports get names of our own, so that what JavaScript provides can be
//     found by number; its start function becomes an export, to be called when
//     the instance is complete;
//   - at each loop, and in each function that calls others, it counts down, and
//     now and then calls a function of ours (fuel.go). wazero's own way of ending
//     a loop starts a goroutine for each call and leaves machine code at each
//     turn of a loop; and Go cannot stop the world while machine code runs.
//
// # Who keeps what alive
//
// Compiled code belongs to the process: it is compiled once for all isolates,
// and shared by its content. An instance is alive as long as JavaScript, or an
// instance that is linked with it, can reach it; then it is closed (life.go).
// wazero does not see references that lie in tables and globals, so instances
// between which such references may pass hold each other.
//
// # Determinism
//
// Nothing here reads a clock, draws random numbers or starts a goroutine, and no
// WASI is provided. Floating point is IEEE 754 on every machine, but for the bits
// of a NaN.
package wasm
