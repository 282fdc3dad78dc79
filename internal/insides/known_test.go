package insides

import "testing"

// The parts of goja and of Go's maps that are looked into are where they are expected.
func TestInsidesAreKnown(t *testing.T) {
	for name, known := range map[string]bool{
		"machine.go": TheGoja().Known, "mirrors.go": ThePlainLayout().Known, "smallmap.go": TheMapNames().Known, "halves.go": TheHalves().Known,
		"views.go": TheViews().Known, "looks.go": len(TheIterators().Places) == 2 && NamedOffset().Known, "regexps.go": theRegexpLayout().ok, "frames.go": FramesKnown(),
	} {
		if !known {
			t.Errorf("goja or Go has changed: %s has to follow", name)
		}
	}
}
