//go:build !plantedbugs

// Package planted holds bugs that a minido can be built with, to prove that the
// chaos harness finds them: `go build -tags plantedbugs`. In the minido that users
// get they are constants that are false, and the compiler drops what they guard.
package planted

// The bugs.
const (
	// AckBeforeCommit leaves the commit of a call to the next turn of another kind,
	// and releases the call's outputs all the same.
	AckBeforeCommit = false
	// ForgetAlarms starts without the alarms that the index holds.
	ForgetAlarms = false
	// SQLRandom leaves random() and randomblob() to SQLite.
	SQLRandom = false
	// MapOrder has a simulation take its next step as a Go map's order names it.
	MapOrder = false
	// Goroutine has a simulation's background functions join its steps from a
	// goroutine of their own, whenever that runs.
	Goroutine = false
	// KeepModuleState ends the objects of an isolate that is to go, and goes on with
	// the isolate.
	KeepModuleState = false
	// DropSockets cuts the sockets of an object that hibernates.
	DropSockets = false
	// Layout takes one member of goja's types, such as "goja.vm.stack", for another
	// than expected, see package insides.
	Layout = ""
)
