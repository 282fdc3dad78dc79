package engine

import (
	"time"

	"github.com/dlclark/regexp2/v2"
)

// A backtracking match is a native that cannot be interrupted, and a pattern
// such as (a+)+b with a back-reference takes exponential time. regexp2, which
// goja runs such patterns with, gives up after a time that it takes over when a
// pattern is compiled. goja then sees no match; but by then the watchdog has
// interrupted the turn, so that no code sees it.

// matchGrace is how much longer than a turn a match may take: the watchdog comes
// first.
const matchGrace = time.Second

// matchSlack is how much longer a turn may take because others keep the machine busy: a
// turn's limit is in CPU time, and a match's is not. With a limit of a second or less a turn
// is always interrupted before its match gives up; with a longer one a match would
// block its isolate for minutes.
const matchSlack = 10 * time.Second

func init() { BoundMatches(DefaultTurnLimit) }

// BoundMatches bounds the time of a regular expression's match, for all engines
// of the process: limit is the TurnLimit that they will have, the longest if
// they differ. Without it DefaultTurnLimit holds. Call it before anything
// compiles JavaScript.
func BoundMatches(limit time.Duration) {
	regexp2.DefaultMatchTimeout = min(blockedTimes*limit, limit+matchSlack) + matchGrace
}
