package killpoint

import (
	"errors"
	"fmt"
	"sync"
	"testing"
)

// Who only watches is told of both sides of an effect, and holds nothing up: effects run
// at the same time, which they don't while points are on.
func TestWatch(t *testing.T) {
	var mu sync.Mutex
	told := map[string]int{}
	p := New(Options{Off: true})
	stop := p.Watch(func(pt Point) {
		mu.Lock()
		defer mu.Unlock()
		told[string(pt.Kind)+":"+string(pt.Side)+"("+pt.Object+")/"+pt.Cause]++
	})
	if p.On() || !p.Heard() {
		t.Errorf("watched points: on %v, heard %v", p.On(), p.Heard())
	}
	inner := func() error { return p.Effect(Frame, "Room/b", "message", func() error { return nil }) }
	if err := p.Effect(Commit, "Room/a", "rpc", inner); err != nil { // waits for ever if a lock is held
		t.Error(err)
	}
	if err := p.Effect(Chunk, "", "fetch", func() error { return errors.New("broken") }); err == nil || err.Error() != "broken" {
		t.Errorf("a failed effect says %v", err)
	}
	p.Send(Message{Kind: RPC, Object: "Room/a", Cause: "rpc", Send: func() {}})
	p.Depart(Message{Kind: Fetch, Cause: "fetch", Send: func() {}})
	p.Arrive(Message{Kind: Fetch, Cause: "fetch", Send: func() {}})
	p.Hit(Wake, After, "Room/a", "rpc")
	if err := p.Reach(Fetch, "", "timer"); err != nil {
		t.Error(err)
	}
	want := "map[chunk:before()/fetch:1 commit:after(Room/a)/rpc:1 commit:before(Room/a)/rpc:1 fetch:after()/fetch:1 fetch:before()/fetch:1 fetch:before()/timer:1 " +
		"frame:after(Room/b)/message:1 frame:before(Room/b)/message:1 rpc:after(Room/a)/rpc:1 rpc:before(Room/a)/rpc:1 wake:after(Room/a)/rpc:1]"
	if got := fmt.Sprint(told); got != want {
		t.Errorf("told of %s, want %s", got, want)
	}
	stop()
	stop()
	p.Hit(Wake, After, "Room/a", "rpc")
	if p.Heard() || told["wake:after(Room/a)/rpc"] != 1 {
		t.Error("told after the end")
	}
}
