package programs

import (
	"os"
	"path/filepath"
	"testing"

	"minido.dev/minido/runtime/bundle/pack"
	"minido.dev/minido/runtime/bundle/uses"
)

func keys(parts ...string) (list []uses.Key) {
	for _, p := range parts {
		list = append(list, uses.Key{Part: p})
	}
	return list
}

// What is saved is there for the next process of this build, and not for another's.
func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache", "x.programs")
	if s := Open(""); s.Lacks(keys("a")) || s.Program(uses.Key{}) != "" {
		t.Error("a store without a file keeps programs")
	}
	s := Open(path)
	if !s.Lacks(keys("a")) {
		t.Error("an empty store lacks nothing")
	}
	want := map[uses.Key]string{{Part: "a"}: "program", {File: [32]byte{1}, Part: "a"}: "other", {Part: "none"}: ""}
	if err := s.Save(want); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Store{s, Open(path)} {
		for k, program := range want {
			if s.Program(k) != program || s.Lacks([]uses.Key{k}) {
				t.Errorf("%v: %q, not %q", k, s.Program(k), program)
			}
		}
		if !s.Lacks(keys("a", "b")) || s.Program(uses.Key{Part: "b"}) != "" {
			t.Error("it has what was not saved")
		}
	}
	w := pack.Writer{}
	w.Text(Build() + " another")
	w.Number(0)
	if err := os.WriteFile(path, w.Sealed(), 0o600); err != nil {
		t.Fatal(err)
	}
	if !Open(path).Lacks(keys("a")) {
		t.Error("the programs of another build are read")
	}
}
