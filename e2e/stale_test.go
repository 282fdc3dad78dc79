package e2e

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/sim"
	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/world"
)

// stalling is a model that says some words when it is first asked, no more later,
// and keeps the connection open.
type stalling struct {
	system *sim.System
	asked  []time.Duration // since the epoch
}

// ServeHTTP speaks Workers AI's events.
func (m *stalling) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.asked = append(m.asked, m.system.Sim.Now().Sub(world.Epoch))
	w.Header().Set("Content-Type", "text/event-stream")
	if len(m.asked) == 1 {
		_, _ = fmt.Fprint(w, "data: {\"response\":\"some words\"}\n\n") // who is gone needs no word
	}
	sched.Wait(m.system.Scheduler(), func() bool { return r.Context().Err() != nil })
}

// A chat turn whose stream stalls, in a server that dies every 100 s, is taken up
// again in life after life. Without progress for five minutes it is given up: the
// model is not asked any more.
func TestStreamGoesStaleAfterFiveMinutes(t *testing.T) {
	t.Parallel()
	s, err := sim.New(sim.Options{Dir: t.TempDir(), Timeout: time.Hour, World: world.Options{CacheDir: t.TempDir(), Bundles: &bundles,
		AI: "http://model.test", Config: config.Options{Dir: fixture(t, "chat")}}})
	if err != nil {
		t.Fatal(err)
	}
	model := &stalling{system: s}
	s.Serve("model.test", model)
	ask, err := drive.Parse(drive.Chat, "SupportChat/c1: hello")
	if err != nil {
		t.Fatal(err)
	}
	for life := range 6 {
		if err := s.Live(sim.Life{}); err != nil {
			t.Fatal(err)
		}
		if life == 0 {
			s.Session.Go("client", func() { _, _ = s.Session.Do(context.Background(), ask) }) // its answer never comes
		}
		if err := s.World.Advance(100 * time.Second); err != nil {
			t.Fatal(err)
		}
		s.World.Kill()
		if err := s.Bury(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.End(); err != nil {
		t.Fatal(err)
	}
	const fiveMinutes = 5 * time.Minute
	if last := model.asked[len(model.asked)-1]; len(model.asked) != 4 || last < fiveMinutes || last > fiveMinutes+time.Second {
		t.Errorf("in ten minutes the model was asked at %v", model.asked)
	}
}
