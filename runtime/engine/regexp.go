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

func init() { BoundMatches(DefaultTurnLimit) }

// BoundMatches bounds the time of a regular expression's match, for all engines
// of the process: limit is the TurnLimit that they will have, the longest if
// they differ. Without it DefaultTurnLimit holds. Call it before anything
// compiles JavaScript.
func BoundMatches(limit time.Duration) { regexp2.DefaultMatchTimeout = limit + matchGrace }
