package killpoint

import (
	"strings"
	"testing"
)

// FuzzLabel: what Label writes ParseLabel reads, the target of a label is hit by
// its point and no sooner, and what cannot be read is named in the error.
func FuzzLabel(f *testing.F) {
	for _, seed := range []string{"commit:after(Agent/a1)/alarm#2", "rpc:before()/rpc#1", "commit:after#3", "index:before(A/x)y(/z#/#)/fetch#9", "7", "wake:before", "frame:after(Ä/ö)/message#00012"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		target, terr := ParseTarget(text)
		p, err := ParseLabel(text)
		for _, err := range []error{terr, err} {
			if err != nil && !strings.Contains(err.Error(), "kill point") {
				t.Fatalf("%q: the error does not say what is wrong: %v", text, err)
			}
		}
		if err != nil {
			return
		}
		if terr != nil {
			t.Fatalf("%q is a label, and no target: %v", text, terr)
		}
		again, err := ParseLabel(p.Label())
		if err != nil || again != p {
			t.Fatalf("%q: %+v became %q, %+v, %v", text, p, p.Label(), again, err)
		}
		if p.Occurrence > 1000 {
			return
		}
		for n := 1; n <= p.Occurrence; n++ {
			if hit := target(p); hit != (n == p.Occurrence) {
				t.Fatalf("%q: hit %d: %v", text, n, hit)
			}
		}
	})
}
