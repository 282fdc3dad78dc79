package sqlstore

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"minido.dev/minido/internal/disk"
	"minido.dev/minido/internal/entropy"
)

func openFacets(t *testing.T, p string) *FacetIndex {
	t.Helper()
	x, err := OpenFacetIndex(nil, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func facetID(t *testing.T, x *FacetIndex, parent int, name string) int {
	t.Helper()
	id, err := x.ID(parent, name)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// The bytes on disk are workerd's; ids are stable across reopening.
func TestFacetFormat(t *testing.T) {
	p := filepath.Join(t.TempDir(), "x.facets")
	x := openFacets(t, p)
	if a, b, c, again := facetID(t, x, 0, "ab"), facetID(t, x, 1, "c"), facetID(t, x, 0, "c"), facetID(t, x, 1, "c"); a != 1 || b != 2 || c != 3 || again != 2 {
		t.Error(a, b, c, again)
	}
	want := []byte("\x57\xef\xb0\xc5\x5b\xce\xcd\xc4" + "\x00\x00\x02\x00ab" + "\x01\x00\x01\x00c" + "\x00\x00\x01\x00c")
	got, err := os.ReadFile(p)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%x %v", got, err)
	}
	x = openFacets(t, p)
	if id, ok := x.Lookup(1, "c"); id != 2 || !ok {
		t.Error(id, ok)
	}
	if _, ok := x.Lookup(2, "c"); ok {
		t.Error("found what is not there")
	}
	if got := x.Children(0); !reflect.DeepEqual(got, []Facet{{1, 0, "ab"}, {3, 0, "c"}}) {
		t.Error(got)
	}
	if r, err := ReadFacets(p); err != nil || !reflect.DeepEqual(r, x.All()) {
		t.Error(r, err)
	}
	if r, err := ReadFacets(p + "none"); r != nil || err != nil {
		t.Error(r, err)
	}
}

// Cut at every byte, the file opens with the entries that are whole, and new
// entries go where the good part ended.
func TestFacetTornTail(t *testing.T) {
	dir := t.TempDir()
	full := []byte("\x57\xef\xb0\xc5\x5b\xce\xcd\xc4" + "\x00\x00\x02\x00ab" + "\x01\x00\x01\x00c")
	for n := range len(full) + 1 {
		p := filepath.Join(dir, "x")
		writeFacets(t, p, string(full[:n]))
		want := 0
		if n >= 14 {
			want = 1
		}
		if n >= 19 {
			want = 2
		}
		if r, err := ReadFacets(p); err != nil || len(r) != want {
			t.Errorf("%d bytes: read %v %v", n, r, err)
		}
		x := openFacets(t, p)
		if got := len(x.All()); got != want {
			t.Errorf("%d bytes: %d entries, want %d", n, got, want)
		}
		if id := facetID(t, x, 0, "new"); id != want+1 {
			t.Errorf("%d bytes: new id %d", n, id)
		}
		if got := openFacets(t, p).All(); len(got) != want+1 || got[want].Name != "new" {
			t.Errorf("%d bytes: after reopening %v", n, got)
		}
	}
}

// Nonsense after good entries is dropped; a foreign file is refused; bad
// arguments are refused.
func TestFacetErrors(t *testing.T) {
	dir := t.TempDir()
	head := "\x57\xef\xb0\xc5\x5b\xce\xcd\xc4\x00\x00\x01\x00a"
	for name, tail := range map[string]string{
		"empty name": "\x00\x00\x00\x00zzzz", "unknown parent": "\x02\x00\x01\x00b", "duplicate": "\x00\x00\x01\x00a", "overrun": "\x00\x00\xff\x00abc",
	} {
		p := filepath.Join(dir, "x")
		writeFacets(t, p, head+tail)
		if x := openFacets(t, p); len(x.All()) != 1 {
			t.Errorf("%s: %v", name, x.All())
		}
		if b, _ := os.ReadFile(p); string(b) != head {
			t.Errorf("%s: left %x", name, b)
		}
	}
	p := filepath.Join(dir, "foreign")
	if err := os.WriteFile(p, []byte("something else entirely"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFacetIndex(nil, p); err == nil || !strings.Contains(err.Error(), p) {
		t.Error(err)
	}
	x := openFacets(t, filepath.Join(dir, "y"))
	for _, bad := range []Facet{{Parent: 0, Name: ""}, {Parent: 1, Name: "x"}, {Parent: -1, Name: "x"}, {Name: strings.Repeat("x", 1<<16)}} {
		if _, err := x.ID(bad.Parent, bad.Name); err == nil {
			t.Errorf("accepted parent %d, %d bytes", bad.Parent, len(bad.Name))
		}
	}
}

// A facet whose entry, or the checksum of it, cannot be written has no id, and the next one
// gets the same after a restart, too.
func TestFacetThatCannotBeWritten(t *testing.T) {
	p := filepath.Join(t.TempDir(), "x.facets")
	x := openFacets(t, p)
	facetID(t, x, 0, "first")
	if err := os.Remove(p + "-sum"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(p+"-sum", 0o700); err != nil {
		t.Fatal(err)
	}
	if id, err := x.ID(0, "lost"); err == nil {
		t.Errorf("its checksum cannot be written, and it is %d", id)
	}
	if err := os.RemoveAll(p + "-sum"); err != nil {
		t.Fatal(err)
	}
	if id, err := x.ID(0, "next"); id != 2 || err != nil {
		t.Errorf("the next one is %d, %v", id, err)
	}
	if all, err := ReadFacets(p); err != nil || len(all) != 2 || all[1].Name != "next" {
		t.Errorf("after a restart: %v, %v", all, err)
	}
	if err := x.f.Close(); err != nil {
		t.Fatal(err)
	}
	if id, err := x.ID(0, "closed"); err == nil {
		t.Errorf("its entry cannot be written, and it is %d", id)
	}
	if id, ok := x.Lookup(0, "closed"); ok {
		t.Errorf("a facet that could not be written is %d", id)
	}
}

// writeFacets makes an index as another program does.
func writeFacets(t *testing.T, path, text string) {
	t.Helper()
	if err := os.Remove(path + "-sum"); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// An index that minido wrote is refused, by its name, once a byte of it has
// changed or is missing, or a facet's file has a number that it does not know.
func TestFacetDamage(t *testing.T) {
	refused := func(what, p string) {
		t.Helper()
		if _, err := OpenFacetIndex(nil, p); err == nil || !strings.Contains(err.Error(), p) {
			t.Errorf("%s: %v", what, err)
		}
	}
	p := filepath.Join(t.TempDir(), "a.facets")
	x := openFacets(t, p)
	for _, name := range []string{"one", "two", "three"} {
		facetID(t, x, 0, name)
	}
	whole, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		b := append([]byte{}, whole...)
		b[i] ^= 0x10
		for what, text := range map[string][]byte{"flip": b, "cut": whole[:i]} {
			if err := os.WriteFile(p, text, 0o600); err != nil {
				t.Fatal(err)
			}
			refused(what, p)
			if _, err := ReadFacets(p); err == nil {
				t.Errorf("%s at byte %d is read", what, i)
			}
		}
	}
	if err := os.Remove(p); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFacets(p); err == nil {
		t.Error("a missing index is read")
	}
	writeFacets(t, p, string(whole[:14]))
	if err := os.WriteFile(filepath.Join(filepath.Dir(p), "a.3.sqlite"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("an unknown number", p)
}

// A facet whose number was given out is known after a loss of power at that
// moment, the first one too, whose file is new.
func TestFacetsSurvivePowerLoss(t *testing.T) {
	dir, d := t.TempDir(), disk.New()
	x, err := OpenFacetIndex(d, filepath.Join(dir, "x.facets"))
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 3; n++ {
		facetID(t, x, 0, strconv.Itoa(n))
		for _, chance := range []entropy.Source{nil, entropy.NewSeeded(uint64(n))} {
			to := t.TempDir()
			if err := d.Fall(dir, to, chance, func(string) bool { return false }); err != nil {
				t.Fatal(err)
			}
			left, err := ReadFacets(filepath.Join(to, "x.facets"))
			if err != nil || len(left) != n {
				t.Fatalf("after facet %d there are %v, %v", n, left, err)
			}
		}
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
}
