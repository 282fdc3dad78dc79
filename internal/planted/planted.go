// Package planted holds bugs that a minido can be linked with, to verify that the
// chaos harness finds them: `go build -ldflags "-X
// minido.dev/minido/internal/planted.linked=yes"`. In the minido that users get they
// are false, whatever the environment says. It is the linker that chooses, so that the
// tests that need such a minido compile nothing.
package planted

import "os"

// linked is set by the linker, see above.
var linked string

// bug is the one that this process has.
var bug = named("MINIDO_PLANTED_BUG")

// The bugs. They are read everywhere and written nowhere.
var (
	// AckBeforeCommit leaves the commit of a call to the next turn of another kind,
	// and releases the call's outputs all the same.
	AckBeforeCommit = bug == "ack-before-commit"
	// ForgetAlarms starts without the alarms that the index holds.
	ForgetAlarms = bug == "forget-alarms"
	// SQLRandom leaves random() and randomblob() to SQLite.
	SQLRandom = bug == "sql-random"
	// MapOrder has a simulation take its next step as a Go map's order names it.
	MapOrder = bug == "map-order"
	// Goroutine has a simulation's background functions join its steps from a
	// goroutine of their own, whenever that runs.
	Goroutine = bug == "goroutine"
	// KeepModuleState ends the objects of an isolate that is to go, and goes on with
	// the isolate.
	KeepModuleState = bug == "keep-module-state"
	// DropSockets cuts the sockets of an object that hibernates.
	DropSockets = bug == "drop-sockets"
	// Layout takes one member of goja's types, such as "goja.vm.stack", for another
	// than expected, see package insides.
	Layout = named("MINIDO_PLANTED_LAYOUT")
)

func named(variable string) string {
	if linked == "" {
		return ""
	}
	return os.Getenv(variable)
}
