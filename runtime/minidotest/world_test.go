package minidotest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// counterHistory drives the counter fixture with concurrent clients, then lets
// an alarm fire, and its retry, half an hour later.
func counterHistory(t *testing.T, seed uint64) []string {
	w := NewWorld(t, Options{Project: "../../fixtures/counter", Seed: seed, Idle: 10 * time.Second})
	var all []*Response
	for i := range 20 {
		all = append(all, w.Send("POST", fmt.Sprintf("http://localhost/c%d/add?by=%d", i%3, i), ""))
	}
	if err := w.Until(func() bool { return !slices.ContainsFunc(all, func(r *Response) bool { return !r.Done() }) }); err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.Status != 200 {
			t.Fatalf("%d %s %v", r.Status, r.Body, r.Err)
		}
	}
	began := w.Now()
	if r := w.Do("POST", "http://localhost/c1/wake?ms=1800000&fail=1", ""); r.Status != 200 {
		t.Fatalf("%d %s %v", r.Status, r.Body, r.Err)
	}
	fired := func() bool { return strings.Count(w.Do("GET", "http://localhost/c1/alarms", "").Body, "fired") == 2 }
	for !fired() {
		pause := false
		w.Clock().AfterFunc(time.Minute, func() { pause = true })
		if err := w.Until(func() bool { return pause }); err != nil {
			t.Fatal(err)
		}
	}
	if took := w.Now().Sub(began); took < 30*time.Minute || took > 32*time.Minute {
		t.Fatalf("the alarm and its retry took %v of virtual time", took)
	}
	return w.History
}

// The same seed gives the same history, line by line; other seeds give other
// orders of events.
func TestSameSeedSameHistory(t *testing.T) {
	one, two := counterHistory(t, 42), counterHistory(t, 42)
	if !slices.Equal(one, two) {
		for i := range min(len(one), len(two)) {
			if one[i] != two[i] {
				t.Fatalf("line %d differs:\n%s\n%s", i, one[i], two[i])
			}
		}
		t.Fatalf("%d and %d lines", len(one), len(two))
	}
	distinct := map[string]bool{}
	for seed := range uint64(4) {
		distinct[strings.Join(counterHistory(t, seed), "\n")] = true
	}
	if len(distinct) < 2 {
		t.Fatal("the seed does not choose the order of events")
	}
}
