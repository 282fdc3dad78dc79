package sim

import (
	"io"
	"net/http"
	"testing"
	"time"

	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/world"
)

// The body of an upstream's answer is there with the head; on a slow machine it
// may come later, if the seed has it so. Either way all of it comes.
func TestBodyMayComeAfterTheHead(t *testing.T) {
	together := func(seed uint64, slack time.Duration) (with bool) {
		s := world.NewSim(seed, time.Time{})
		defer s.Close()
		s.Slow(slack)
		s.Net.Handle("up.test", Handler(s, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "whole")
		})))
		text, over := "", false
		s.Net.Do(world.Request("GET", "http://up.test/", ""), func(resp *event.Response, err error) {
			if err != nil {
				t.Error(err)
				return
			}
			s.Scheduler().Go("reader", func() { // a turn of its own, as an isolate's
				reading := true
				resp.Body.Read(func(chunk []byte, _ error) {
					text, with, over = string(chunk), reading, true
				})
				reading = false
			})
		})
		if err := s.Until(func() bool { return over }, time.Minute); err != nil || text != "whole" {
			t.Fatalf("seed %d: %q %v", seed, text, err)
		}
		return with
	}
	met := map[bool]bool{}
	for seed := range uint64(20) {
		met[together(seed, time.Millisecond)] = true
	}
	if !met[true] || !met[false] {
		t.Errorf("on a slow machine the body comes with the head: %v", met)
	}
	for seed := range uint64(5) {
		if !together(seed, 0) {
			t.Errorf("seed %d: the body comes after the head of a fast machine", seed)
		}
	}
}

// An upstream that answers no more does not keep the simulation from its end.
func TestSimulationEndsBeforeItsUpstream(t *testing.T) {
	s := world.NewSim(1, time.Time{})
	asked, over := false, false
	s.Net.Handle("up.test", Handler(s, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked = true
		sched.Wait(s.Scheduler(), func() bool { return r.Context().Err() != nil })
		<-r.Context().Done()
		over = true
	})))
	s.Net.Do(world.Request("GET", "http://up.test/", ""), func(*event.Response, error) {})
	if err := s.Until(func() bool { return asked }, time.Minute); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if !over {
		t.Error("the handler still waits")
	}
}
