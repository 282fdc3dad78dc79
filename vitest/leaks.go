package vitest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"minido.dev/minido/runtime/server"
)

// open counts what the requests of the tested worker, the one that runs the tests among
// them, have not ended, by name. Left out are what the suite asks of its host and the
// timers of its runner, of which there are so many.
func (r *fileRun) open(timers int) map[string]int {
	all := server.Open(r.world.Server)
	all["a timer"] -= timers
	maps.DeleteFunc(all, func(name string, _ int) bool { return strings.Contains(name, "http://"+hostName+"/") })
	return all
}

// leaks names what a test has left open that had not been when it began. Of tests that run
// beside each other nobody knows whose it is.
func (r *fileRun) leaks(timers int) (names []string) {
	if len(r.running) != 1 {
		return nil
	}
	now := r.open(timers)
	for _, name := range slices.Sorted(maps.Keys(now)) {
		switch n := now[name] - r.before[name]; {
		case n == 1:
			names = append(names, name)
		case n > 1:
			names = append(names, fmt.Sprintf("%s (%d times)", name, n))
		}
	}
	return names
}
