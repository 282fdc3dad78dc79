//go:build plantedbugs

package planted

import "os"

// bug is the one that this process has.
var bug = os.Getenv("MINIDO_PLANTED_BUG")

// The bugs, see planted.go.
var (
	AckBeforeCommit = bug == "ack-before-commit"
	ForgetAlarms    = bug == "forget-alarms"
	SQLRandom       = bug == "sql-random"
	MapOrder        = bug == "map-order"
	Goroutine       = bug == "goroutine"
	KeepModuleState = bug == "keep-module-state"
	DropSockets     = bug == "drop-sockets"
	Layout          = os.Getenv("MINIDO_PLANTED_LAYOUT")
)
