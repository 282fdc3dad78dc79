// Package vitest runs a project's vitest suites inside its worker, without
// Node.js: the project's own installation of vitest is bundled together with the
// worker and its test files, and each file runs in a simulated world of its own
// (package world), with virtual time and empty storage.
//
// The code of the tests runs in the worker's isolate, as it does with
// Cloudflare's pool for vitest. It asks this process for what an isolate cannot
// do (files, faults, time) by requests to the host minido.test on the simulated
// network (host.go, js/suite.js).
package vitest
