package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What a program, a test or a method of an interface needs is used, however it is reached; the
// rest is named with its place.
func TestDead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module x\n\ngo 1.26\n",
		"main.go": `package main

import (
	"fmt"
	"sort"

	"x/lib"
)

type names []string

func (n names) Len() int           { return len(n) }
func (n names) Less(i, j int) bool { return n[i] < n[j] }
func (n names) Swap(i, j int)      { n[i], n[j] = n[j], n[i] }
func (n names) Unused()            {}

type mark struct{}

func (mark) Marked()   {}
func (mark) Stop() int { return helper() }

func helper() int { return 1 }

func main() {
	n := names{"b", "a"}
	sort.Sort(n)
	var v any = mark{}
	_, marked := v.(interface{ Marked() })
	fmt.Println(n, marked, lib.Stop(mark{}), lib.Largest([]lib.Number{1, 2}), lib.Outer{})
}

func circle() { circle() }
`,
		"lib/lib.go": `package lib

type Stopper interface{ Stop() int }

func Stop(s Stopper) int { return s.Stop() }

type Ordered[T any] interface{ Before(T) bool }

type Number int

func (n Number) Before(other Number) bool { return n < other }

func Largest[T Ordered[T]](list []T) (largest T) {
	for _, v := range list {
		if largest.Before(v) {
			largest = v
		}
	}
	return largest
}

type inner struct{}

func (inner) String() string { return "" }
func (inner) Nothing()       {}

type Outer struct{ inner }

type Never interface{ Nothing() }

func OnlyTested() {}
`,
		"lib/lib_test.go": "package lib\n\nimport \"testing\"\n\nfunc TestIt(t *testing.T) { OnlyTested() }\n\nfunc forgotten() {}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := dead(dir, []string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range found {
		place, name, _ := strings.Cut(f, ": ")
		if !strings.HasPrefix(place, dir) {
			t.Errorf("%s is at %s", name, place)
		}
		names = append(names, name)
	}
	if want := []string{"(x.names).Unused", "(x/lib.inner).Nothing", "x.circle", "x/lib.forgotten"}; !slices.Equal(sorted(names), want) {
		t.Errorf("dead: %q\nwant: %q", names, want)
	}
	if _, err := dead(dir, []string{"./none"}); err == nil {
		t.Error("a package that is not there has nothing dead")
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}
