package cut

import (
	"fmt"
	"testing"
	"time"

	"minido.dev/minido/chaos/history"
)

func TestSlowness(t *testing.T) {
	at := func(kind history.Kind, ms ...float64) (out []history.Event) {
		for _, m := range ms {
			out = append(out, history.Event{Kind: kind, AtMs: m})
		}
		return out
	}
	join := func(all ...[]history.Event) (out []history.Event) {
		for _, events := range all {
			out = append(out, events...)
		}
		return out
	}
	for name, c := range map[string]struct {
		events []history.Event
		want   string
	}{
		"nothing":            {nil, "[]"},
		"one step":           {at(history.Call, 100), "[]"},
		"quick":              {at(history.Call, 100, 101, 102), "[]"},
		"slow":               {at(history.Call, 100, 120, 160), "[32ms 64ms]"},
		"the slowest life":   {join(at(history.Call, 100, 110), at(history.Kill, 111), at(history.Send, 900, 960)), "[64ms]"},
		"time between lives": {join(at(history.Connect, 100), at(history.Kill, 111), at(history.Start, 112), at(history.Send, 900)), "[]"},
		"what comes after":   {join(at(history.Call, 100, 101), at(history.Receive, 5000)), "[]"},
	} {
		if got := fmt.Sprint(Slowness(c.events, 0)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if got := Slowness(c.events, time.Minute); got != nil {
			t.Errorf("%s: %v is above a minute", name, got)
		}
	}
}
