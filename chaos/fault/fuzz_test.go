package fault

import (
	"strings"
	"testing"
)

// FuzzPlan: a plan that can be read means the same after it was written and read
// again, its lives have all its faults, and what cannot be read is quoted.
func FuzzPlan(f *testing.F) {
	for _, seed := range []string{
		"none", "kill@commit:after(Agent/a1)/alarm#2; kill@after(350ms)", "kill@checkpoint#3", "kill@17",
		"evict(object)@rpc:before(A/x)/rpc#1; kill@commit:before#2", "fail(commit)@commit:before(A/a; kill@b)/fetch#1",
		"upstream.reset(5)@2; sink.status(503)@1", "hibernate@wake:after(A/x)/start#1", "upstream.cut@1; kill@after(1h2m3s4ms)",
	} {
		f.Add(seed)
	}
	for _, form := range forms() {
		f.Add(strings.NewReplacer("...", "isolate").Replace(form) + "@commit:before(A/x)/rpc#1")
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePlan(text)
		if err != nil {
			if !strings.Contains(err.Error(), `"`) && !strings.Contains(err.Error(), "`") {
				t.Fatalf("%q: nothing is quoted: %v", text, err)
			}
			return
		}
		written := p.String()
		again, err := ParsePlan(written)
		if err != nil || again.String() != written || len(again) != len(p) {
			t.Fatalf("%q became %q, then %q, %v", text, written, again, err)
		}
		count := len(p.Upstream(true)) + len(p.Upstream(false))
		for i, life := range p.Lives() {
			count += len(life)
			if last := i == len(p.Lives())-1; (life.Kill() == nil) != last {
				t.Fatalf("%q: life %d of %d: %v", text, i, len(p.Lives()), life)
			}
		}
		if count != len(p) {
			t.Fatalf("%q: %d faults, %d in its lives", text, len(p), count)
		}
		for _, f := range p {
			f.Happens()
			f.EndsObjects()
		}
	})
}
