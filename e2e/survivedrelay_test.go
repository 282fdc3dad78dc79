package e2e

import "testing"

// shortHeartbeat lets an empty room come to rest soon.
const shortHeartbeat = "HEARTBEAT_MS:300"

func relaySystem() system {
	begin := func(t *testing.T, start func(*testing.T, ...string) server) *stageSet {
		return &stageSet{lives: beginOn(t, start, "relay", nil, shortHeartbeat)}
	}
	return system{"Relay, a two-sided WebSocket room", "relay", begin, relayMoments()}
}

// relayMoments are those after each step of a room's life. An eviction leaves the
// connections open, and nobody notices; the others cut them, and both sides come
// again.
func relayMoments() []moment {
	var moments []moment
	steps := roomSteps()
	for n, step := range steps {
		moments = append(moments, moment{name: step.name, class: "Room",
			stand: func(o *subject) {
				o.room = newStage(o.lives, o.name)
				o.room.walk(steps[:n+1])
			},
			check: func(o *subject) {
				s := o.room
				s.moveTo(o.lives)
				cut := o.blows > 0 && o.fault != "evict"
				if cut {
					s.comeBack()
				}
				if got := len(s.books().Wakes); got != 1+o.blows {
					o.t.Errorf("%d lives of the room, want %d", got, 1+o.blows)
				}
				s.walk(steps[n+1:])
				s.settle()
				s.check(!cut)
				s.leave()
			}})
	}
	return append(moments, moment{name: "after an empty room was cleared away", class: "Room",
		stand: func(o *subject) {
			o.room = newStage(o.lives, o.name)
			o.room.walk(steps)
			o.room.settle()
			o.room.leave()
		},
		check: func(o *subject) {
			s := newStage(o.lives, o.name)
			if b := s.books(); len(b.Keys) != 0 || b.NextAlarm != nil || len(b.Usage) != 2 || len(b.Wakes) != 1+o.blows {
				o.t.Errorf("an empty room has %+v", b)
			}
			s.walk(steps)
			s.settle()
			s.check(true)
			s.leave()
		}})
}
