package durableobject_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"minido.dev/minido/runtime/minidotest"
)

// 10,000 sockets of one object that hibernates fit into 200 MB, both of their
// ends included, and the object that wakes reaches each of them.
func TestManyHibernatedSockets(t *testing.T) {
	if testing.Short() {
		t.Skip("10,000 sockets take seconds")
	}
	const sockets, limitBytes = 10_000, 200 << 20
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	w := minidotest.NewWorker(t, socketWorker, minidotest.Options{Idle: 10 * time.Second})
	w.Want(`{"ok":0}`, "Room/many/count")
	before := heap()
	clients := make([]*minidotest.Client, sockets)
	for i := range clients {
		clients[i] = room(w, fmt.Sprintf("many/s%d/tag%d", i, i%100))
		w.History = nil // it would be measured, too
	}
	w.Advance(time.Minute)
	if n := w.Server.LiveObjects(); n != 0 {
		t.Fatalf("%d objects are in memory", n)
	}
	w.History = nil
	used := heap() - before
	t.Logf("%d hibernated sockets use %d MB, %d bytes each", sockets, used>>20, used/sockets)
	if used > limitBytes {
		t.Errorf("%d hibernated sockets use %d bytes, want at most %d", sockets, used, limitBytes)
	}
	clients[0].Send("cast")
	for i, c := range clients {
		if got := c.Next(1); len(got) != 1 || got[0] != "cast" {
			t.Fatalf("socket %d got %q", i, got)
		}
	}
	w.Want(fmt.Sprintf(`{"ok":%d}`, sockets), "Room/many/count")
	for _, c := range clients[:50] {
		c.Drop()
	}
	w.Advance(time.Minute)
	w.Want(fmt.Sprintf(`{"ok":%d}`, sockets-50), "Room/many/count")
}
