// Package syntax generates small JavaScript programs, at random from a seed, that
// cover the syntax around await and yield: every assignment, patterns, defaults,
// templates, optional chains, spread, loops with labels, try, classes, generators, for
// await and using. Each program traces the order in which it evaluates its parts, so
// that two engines can be compared by what they log.
//
// Programs end: every loop asks z(), which runs out of fuel, and nothing waits for
// more than microtasks. They use the names of Prelude only, and are valid module
// code. Only tests import this package.
package syntax
