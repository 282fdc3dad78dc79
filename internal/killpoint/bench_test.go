package killpoint

import "testing"

// What an effect point costs a server that nobody watches: a request has about
// ten of them.
func BenchmarkOff(b *testing.B) {
	off := New(Options{Off: true})
	for name, p := range map[string]*Points{"none": nil, "off": off} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p.Hit(Commit, Before, "Room/r1", "fetch")
			}
		})
	}
}
