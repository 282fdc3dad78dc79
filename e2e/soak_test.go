package e2e

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/sched"
)

// Hundreds of rooms, each with two clients, hibernate and wake under traffic for
// MINIDO_SOAK (a duration; `make soak`): no connection ends, no message is lost,
// doubled, reordered or misdirected, and rooms do hibernate.
func TestSoakRelay(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("MINIDO_SOAK"))
	if err != nil {
		t.Skip("MINIDO_SOAK is no duration: this runs by `make soak`")
	}
	const rooms, hands = 300, 16
	l := beginWith(t, "relay", []string{"--idle", "0.3", "--log-level", "error"}, "HEARTBEAT_MS:5000")
	stages := make([]*stage, rooms)
	for i := range stages {
		s := newStage(l, "room-"+strconv.Itoa(i))
		s.mac.dial()
		s.mac.join()
		s.ios.dial()
		s.ios.join()
		stages[i] = s
	}
	end := clock.Real{}.Now().Add(length)
	threads := sched.NewThreads(clock.Real{})
	for hand := range hands {
		chance := rand.New(rand.NewPCG(1, uint64(hand)))
		threads.Go("traffic", func() {
			for (clock.Real{}).Now().Before(end) {
				// Each hand has rooms of its own.
				s := stages[chance.IntN(rooms/hands)*hands+hand]
				s.say(s.mac, chance.IntN(5))
				s.say(s.ios, chance.IntN(5))
				if chance.IntN(2) == 0 {
					s.settle()
				}
			}
		})
	}
	most := 0
	err = wait.Until(t.Context(), clock.Real{}, length+limit, "the end of the traffic", func() (bool, error) {
		var all struct {
			Objects []struct{ State string }
		}
		if err := l.control().Get(t.Context(), "/v1/objects", &all); err != nil {
			return false, err
		}
		n := 0
		for _, o := range all.Objects {
			if o.State == "hibernated" {
				n++
			}
		}
		most = max(most, n)
		return !clock.Real{}.Now().Before(end), wait.Pause(t.Context(), clock.Real{}, time.Second)
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := wait.WithLimit(t.Context(), clock.Real{}, limit)
	defer cancel()
	if err := threads.Close(ctx); err != nil {
		t.Fatal(err)
	}
	messages, wakes := 0, 0
	for _, s := range stages {
		s.settle()
		s.check(true)
		messages += len(s.mac.inbox) + len(s.ios.inbox)
		wakes += len(s.books().Wakes) - 1
	}
	if most == 0 || wakes == 0 {
		t.Errorf("%d rooms hibernated at most, %d wakes", most, wakes)
	}
	t.Logf("%d messages in %d rooms; %d wakes, at most %d rooms were hibernated at a time", messages, rooms, wakes, most)
}
