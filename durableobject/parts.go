package durableobject

import (
	"time"

	"minido.dev/minido/runtime/webapi/websocket"
)

// An object has parts with much to do of their own. Each has the state that only
// it keeps, and reaches the rest of its object; all are as loop-confined.

// storage is what the code of an object reaches as ctx.storage: keys, SQL,
// transactions, the alarm's row, bookmarks.
type storage struct {
	*Object
	txns   int // open async transactions, outermost and nested
	kvList *kvIterator
}

// wakeUp is the alarm: its row against the index, and the call of its handler.
type wakeUp struct {
	*Object
	alarmState
	defined bool // the class has a handler
}

// sockets are the WebSockets that outlive incarnations.
type sockets struct {
	*Object
	handles map[*HibernatableSocket]*websocket.Handle // of this incarnation
	timeout time.Duration                             // of their events
}

// facetTree is the facets of the object.
type facetTree struct {
	*Object
	byName map[string]*facet // that run
}
