package sqlstore

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
)

// Each commit that is 10 ms from the next is a moment, also in archived segments; the
// file that is written of it holds what was committed then.
func TestMoments(t *testing.T) {
	k := newKeeper(t, t.TempDir())
	var want []map[string]string
	for i := range 40 { // several segments of 20 frames
		k.put("key", fmt.Sprint(i))
		k.commit()
		k.clock.Advance(20 * time.Millisecond)
		want = append(want, k.committed)
	}
	all, err := PastOf(k.store).Moments(1000)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < len(want) {
		t.Fatalf("%d moments of %d commits", len(all), len(want))
	}
	for i := 1; i < len(all); i++ {
		if all[i].Bookmark <= all[i-1].Bookmark || all[i].Time < all[i-1].Time {
			t.Errorf("%v comes before %v", all[i-1], all[i])
		}
	}
	now, err := k.store.CurrentBookmark()
	if err != nil || all[len(all)-1].Bookmark != now {
		t.Errorf("the last moment is %v, the present %s, %v", all[len(all)-1], now, err)
	}
	for i, w := range want {
		m := all[len(all)-len(want)+i]
		path := filepath.Join(t.TempDir(), "state.sqlite")
		if err := PastOf(k.store).WriteState(m.Bookmark, path); err != nil {
			t.Fatal(err)
		}
		s, err := Open(Options{Path: path, Clock: clock.NewVirtual(start), Entropy: entropy.NewSeeded(1), Sync: sqlite.Off})
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := s.Get("key")
		if err != nil || string(got) != w["key"] {
			t.Errorf("moment %d holds %q, %v; committed was %q", i, got, err, w["key"])
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if few, err := PastOf(k.store).Moments(3); err != nil || len(few) != 3 || few[2].Bookmark != now {
		t.Errorf("the newest three: %v, %v", few, err)
	}
	if err := PastOf(k.store).WriteState("00000000-00000000-00000000-00000000000000000000000000000000", filepath.Join(t.TempDir(), "x")); err == nil {
		t.Error("a bookmark of another history was taken")
	}
	if err := k.store.Close(); err != nil {
		t.Fatal(err)
	}
}
