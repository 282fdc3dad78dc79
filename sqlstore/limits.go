package sqlstore

import "minido.dev/minido/internal/sqlite"

// LimitsProfile chooses whose limits SQL meets (docs/semantics.md 17).
type LimitsProfile int

const (
	// Prod enforces what Cloudflare documents for production.
	Prod LimitsProfile = iota
	// Local enforces what the workerd binary enforces.
	Local
)

// Lengths in bytes that the profiles allow for one value and for one row.
const (
	prodMaxValueBytes  = 2 << 20
	localMaxValueBytes = 8<<20 + 34 // as probed on workerd 1.20261117
)

// maxSQLBytes bounds the text of one exec call, in both profiles.
const maxSQLBytes = 100_000

// set applies the profile. The numbers that both share are SQLite's
// recommendations for untrusted SQL (https://www.sqlite.org/security.html) as
// workerd has them (util/sqlite.c++, setupSecurity).
func (p LimitsProfile) set(c *sqlite.Conn) {
	length, args := prodMaxValueBytes, 32
	if p == Local {
		length, args = localMaxValueBytes, 127
	}
	c.SetLimit(sqlite.LimitLength, length)
	c.SetLimit(sqlite.LimitFunctionArg, args)
	c.SetLimit(sqlite.LimitSQLLength, maxSQLBytes)
	c.SetLimit(sqlite.LimitColumn, 100)
	c.SetLimit(sqlite.LimitExprDepth, 100)
	c.SetLimit(sqlite.LimitCompoundSelect, 5)
	c.SetLimit(sqlite.LimitVDBEOp, 25_000)
	c.SetLimit(sqlite.LimitAttached, 0)
	c.SetLimit(sqlite.LimitLikePatternLength, 50)
	c.SetLimit(sqlite.LimitVariableNumber, 100)
	c.SetLimit(sqlite.LimitTriggerDepth, 10)
	c.SetLimit(sqlite.LimitWorkerThreads, 0)
}
