package durableobject_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/minidotest"
)

// A loss of power at any effect point of a burst of writes loses no value that a
// client has seen, with nothing of what was not synced and with some of it, in
// every order of steps. MINIDO_POWER_LOSSES says how many (make soak: 10,000),
// MINIDO_POWER_SEED which seed is the first.
func TestPowerLossLosesNoAcknowledgedWrite(t *testing.T) {
	wanted, seed := powerNumber(t, "MINIDO_POWER_LOSSES", 30), powerNumber(t, "MINIDO_POWER_SEED", 1)
	losses := 0
	for next := losses; losses < wanted; seed++ {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { // its worlds are let go at its end
			for _, d := range minidotest.Deaths {
				if d.LosesPower() {
					losses += burstWithLosses(t, d, uint64(seed))
				}
			}
		})
		if t.Failed() {
			t.Fatalf("again: MINIDO_POWER_LOSSES=1 MINIDO_POWER_SEED=%d go test -run %s ./durableobject", seed, t.Name())
		}
		if losses >= next {
			t.Logf("%d losses of power", losses)
			next = losses + 1000
		}
	}
	t.Logf("%d losses of power in all", losses)
}

// burstWithLosses loses power at every third effect point of a seed's burst.
func burstWithLosses(t *testing.T, d minidotest.Death, seed uint64) (losses int) {
	all := func(int) bool { return false }
	w := minidotest.NewWorker(t, syncWorker, d.With(minidotest.Options{Seed: seed}))
	if seen, err := burst(w, all); err != nil || seen != 5 {
		t.Fatalf("seed %d: %d, %v", seed, seen, err)
	}
	points := len(w.Logged(" point "))
	for n := 1 + int(seed%3); n <= points; n += 3 {
		hits := 0
		w := w.Again(d.With(minidotest.Options{Seed: seed, Kill: func(killpoint.Point) bool { hits++; return hits == n }}))
		seen, err := burst(w, all)
		if err == nil {
			break // the points before the world was up are not visited
		}
		losses++
		keeps(t, fmt.Sprintf("seed %d, %s, point %d", seed, d.Name, n), w, seen)
	}
	return losses
}

// powerNumber is a number from the environment.
func powerNumber(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(name, ": ", err)
	}
	return n
}
