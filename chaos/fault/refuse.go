package fault

import (
	"net"
	"syscall"

	"minido.dev/minido/internal/killpoint"
)

// Refuse is the verb of a server that takes no connection.
const Refuse Verb = "refuse"

var refuse = Kind{
	Verb:  Refuse,
	Forms: []string{"refuse"},
	Does:  "the target server of a fetch refuses the connection, so nothing was sent. It may be any server",
	Draws: []string{"refuse"}, Weight: 1,
	Takes: oneOf(""), Happens: isFetch, EndsObjects: never,
	Where: "write refuse with fetch:before: the connection is refused before anything is sent",
	Do: func(_ Machine, _ string, _ killpoint.Point, done func(error)) error {
		done(nil)
		return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	},
}
