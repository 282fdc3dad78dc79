package caches

import (
	"strings"
	"testing"

	"minido.dev/minido/internal/killpoint"
)

// Each change of a cache is an effect between two points; what is not there is
// not taken away.
func TestCacheStoreKillPoints(t *testing.T) {
	var labels []string
	points := killpoint.New(killpoint.Options{Record: func(p killpoint.Point) { labels = append(labels, p.Label()) }})
	s := NewStore(t.TempDir(), points)
	if err := s.put("default", cached{URL: "http://x/", Expires: 2}); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.get("default", "http://x/", 1); !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	for _, want := range []bool{true, false} {
		if found, err := s.remove("default", "http://x/", 1); found != want || err != nil {
			t.Errorf("removed %v, %v", found, err)
		}
	}
	want := "store:before(cache/default)/put#1 store:after(cache/default)/put#1 " +
		"store:before(cache/default)/delete#1 store:after(cache/default)/delete#1 store:before(cache/default)/delete#2"
	if got := strings.Join(labels, " "); got != want {
		t.Errorf("points %s\nwant   %s", got, want)
	}
}
