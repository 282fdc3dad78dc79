package durableobject

// An object has parts with much to do of their own. Each is the object seen from
// one side: it has no state beside the object's, and is as loop-confined.

// storage is what the code of an object reaches as ctx.storage: keys, SQL,
// transactions, the alarm's row, bookmarks.
type storage struct{ *Object }

func (o *Object) storage() storage { return storage{o} }

// wakeUp is the alarm: its row against the index, and the call of its handler.
type wakeUp struct{ *Object }

func (o *Object) wakeUp() wakeUp { return wakeUp{o} }

// sockets are the WebSockets that outlive incarnations.
type sockets struct{ *Object }

func (o *Object) sockets() sockets { return sockets{o} }

// facetTree is the facets of the object.
type facetTree struct{ *Object }

func (o *Object) facetTree() facetTree { return facetTree{o} }
