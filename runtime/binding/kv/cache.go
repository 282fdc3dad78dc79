package kv

import "container/list"

// cache holds the values that were read last, by the ids of their blobs: a blob
// never changes, so that a value which another process replaces is not found here.
// Not safe for concurrent use.
type cache struct {
	byID  map[string]*list.Element
	order *list.List // of *cached, the one used last at the front
	bytes int
}

type cached struct {
	id   string
	data []byte
}

// The bounds of a namespace's cache.
const (
	maxCachedBytes = 4 << 20
	maxCachedValue = 64 << 10
	// entryBytes is what an entry takes beside its value.
	entryBytes = 256
)

func newCache() *cache { return &cache{byID: map[string]*list.Element{}, order: list.New()} }

func (c *cache) get(id string) ([]byte, bool) {
	e := c.byID[id]
	if e == nil {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached).data, true
}

func (c *cache) put(id string, data []byte) {
	if len(data) > maxCachedValue {
		return
	}
	c.byID[id] = c.order.PushFront(&cached{id, data})
	c.bytes += len(data) + entryBytes
	for c.bytes > maxCachedBytes {
		c.drop(c.order.Back().Value.(*cached).id)
	}
}

func (c *cache) drop(id string) {
	e := c.byID[id]
	if e == nil {
		return
	}
	delete(c.byID, id)
	c.order.Remove(e)
	c.bytes -= len(e.Value.(*cached).data) + entryBytes
}
