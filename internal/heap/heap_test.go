package heap

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type item struct{ rank, number, place int }

func (i *item) Place() *int { return &i.place }
func (i *item) Before(o *item) bool {
	if i.rank != o.rank {
		return i.rank < o.rank
	}
	return i.number < o.number
}

// A queue gives what a sorted list gives, whatever is put in, moved and taken out.
func TestQueueIsSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue[*item]
		var in, out []*item
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				i := &item{rank: rapid.IntRange(0, 5).Draw(t, "rank"), number: len(in) + len(out)}
				q.Put(i)
				in = append(in, i)
			},
			"move": func(t *rapid.T) {
				if len(in) == 0 {
					t.Skip("empty")
				}
				i := rapid.SampledFrom(in).Draw(t, "item")
				i.rank = rapid.IntRange(0, 5).Draw(t, "rank")
				q.Put(i)
			},
			"remove": func(t *rapid.T) {
				if len(in) == 0 {
					t.Skip("empty")
				}
				at := rapid.IntRange(0, len(in)-1).Draw(t, "at")
				i := in[at]
				in, out = slices.Delete(in, at, at+1), append(out, i)
				if !q.Remove(i) || q.Remove(i) || i.place != 0 {
					t.Fatal("Remove")
				}
			},
			"": func(t *rapid.T) {
				if q.Len() != len(in) {
					t.Fatalf("%d items, want %d", q.Len(), len(in))
				}
				if len(in) > 0 && q.First() != slices.MinFunc(in, order) {
					t.Fatal("First is not the first")
				}
			},
		})
		slices.SortFunc(in, order)
		for _, want := range in {
			if got := q.Pop(); got != want || got.place != 0 {
				t.Fatalf("popped %+v, want %+v", got, want)
			}
		}
	})
}

func order(a, b *item) int {
	if a.Before(b) {
		return -1
	}
	return 1
}
