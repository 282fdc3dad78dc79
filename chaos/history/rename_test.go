package history

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A history is renamed as that of the earlier death would be: the points after it
// are gone, and those of other lives stay.
func TestRename(t *testing.T) {
	events := func(list ...Event) []Event {
		for i := range list {
			list[i].N = i + 1
		}
		return list
	}
	e := func(kind Kind, text string) Event { return Event{Kind: kind, Text: text} }
	all := events(e(Point, "a"), e(Point, "b"), e(Kill, "b"), e(Start, ""),
		e(Point, "a"), e(Point, "b"), e(Point, "c"), e(Kill, "c"), e(Note, "end"))
	got, err := Rename(all, 1, "a")
	if err != nil {
		t.Fatal(err)
	}
	want := events(e(Point, "a"), e(Point, "b"), e(Kill, "b"), e(Start, ""),
		e(Point, "a"), e(Kill, "a"), e(Note, "end"))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if all[7].Text != "c" || all[8].N != 9 {
		t.Error("it changed what it was given")
	}
	for n, label := range map[int]string{0: "c", 1: "d", 2: "a"} {
		if _, err := Rename(all, n, label); err == nil {
			t.Errorf("death %d at %s was renamed", n, label)
		}
	}
}
