package planted

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync"
)

func refused(m map[string]int, s *sync.Map, out func(string)) (string, []string) {
	for k := range m { // want: map-order
		out(k)
	}
	var list []string
	for k := range m { // want: map-order
		list = append(list, k)
	}
	var text string
	for k := range m { // want: map-order
		text += k
	}
	var sum float64
	for _, v := range m { // want: map-order
		sum += float64(v)
	}
	var last int
	for _, v := range m { // want: map-order
		last = v
	}
	for k := range m { // want: map-order
		delete(m, k)
		break
	}
	inverse := map[int]string{}
	for k, v := range m { // want: map-order
		inverse[v] = k
	}
	n := 0
	few := []string{}
	for k := range m { // want: map-order
		if n++; n < 3 {
			few = append(few, k)
		}
	}
	sort.Strings(few)
	for k := range maps.Keys(m) { // want: map-order
		out(k)
	}
	_ = slices.Collect(maps.Values(m))           // want: map-order
	s.Range(func(k, v any) bool { return true }) // want: map-order
	_ = reflect.ValueOf(m).MapKeys()             // want: map-order
	// order-independent:
	for k := range m { // want: map-order
		out(k)
	}
	for k := range m { // want: map-order
		if _, ok := inverse[0]; !ok {
			inverse[0] = "taken"
			few = append(few, k)
		}
	}
	sort.Strings(few)
	_, _ = last, inverse
	for k := range m { // want: map-order
		return k, list
	}
	return fmt.Sprint(text, sum), nil
}

func generic[M ~map[string]int](m M, out func(string)) {
	for k := range m { // want: map-order
		out(k)
	}
}

var held = func(m map[string]int, out func(string)) {
	for k := range m { // want: map-order
		out(k)
	}
}

type box struct {
	keys []string
	all  map[string]bool
}

func accepted(m map[string]int, b *box, out func(string)) bool {
	for k := range m {
		delete(m, k)
	}
	other := map[string]int{}
	for k, v := range m {
		if v > 3 && !strings.HasPrefix(k, "_") {
			other[k] = v * 2
		} else {
			b.all[k] = true
		}
	}
	n, found, most := 0, false, 0
	for k, v := range m {
		if k == "" {
			continue
		}
		n++
		n += v
		found = true
		if v > most {
			most = v
		}
	}
	for range m {
		out("the same each time")
	}
	for k := range m {
		b.keys = append(b.keys, k)
	}
	sort.Strings(b.keys)
	set := map[int]struct{}{}
	for _, v := range m {
		set[v] = struct{}{}
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out(k)
	}
	keys := slices.Collect(maps.Keys(m))
	slices.Sort(keys)
	copied := maps.Collect(maps.All(m))
	// order-independent: each call has an effect of its own
	for k := range m {
		out(k)
	}
	for k := range m { // order-independent: the same
		out(k)
	}
	for _, v := range m {
		if v == 7 {
			return true
		}
	}
	for k, v := range m {
		if _, ok := other[k]; !ok {
			other[k] = v
		}
	}
	for _, v := range m {
		switch {
		case v == 1:
			n++
		case v == 2:
			n--
		default:
			set[v] = struct{}{}
		}
	}
	_, _, _ = other, found, copied
	return false
}
