package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"minido.dev/minido/chaos/upstream"
	"minido.dev/minido/chaos/wait"
	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/golden"
	"minido.dev/minido/runtime/control"
)

// A system is hit by each of these. SIGKILL ends the process, the others one
// object: docs/control.md says what they stand for. Eviction is forced where
// production would not do it at that moment, which is what happens to objects
// when their machine is shut down.
var faults = []string{"evict", "reset", "crash", "SIGKILL"}

// system is one row of the README's table: a fixture, and the moments of its
// life at which it is hit.
type system struct {
	title   string // as the table has it
	fixture string
	begin   func(t *testing.T, start func(*testing.T, ...string) server) *stageSet
	moments []moment
}

// stageSet is what the moments of one fault share: a server and what it talks to.
type stageSet struct {
	*lives
	tool     *tool
	provider *upstream.Server // of a chat's answers
	box      *sandbox         // of a session's commands
	ownCalls bool             // held calls are made by the object that is hit, not by others for it
}

// moment is one moment of a system's life. Each test of it has an object that
// nobody has used.
type moment struct {
	name  string
	class string
	below string // what follows in the name of the object that is hit, if it is another
	// stand brings the object to where it stands still, and is hit.
	stand func(o *subject)
	// again, if the recovery is hit, too, is called before the first blow. It
	// makes the place at which the recovery will stand still, and returns what
	// waits until it does.
	again func(o *subject) (wait func())
	// check waits until the object has recovered from as many blows as it got,
	// and checks its invariants.
	check func(o *subject)
	// bug names a mistake of the published package that check pins.
	bug string
}

// subject is the object of one moment. Confined to its test's goroutine.
type subject struct {
	*stageSet
	name  string
	fault string
	blows int
	gates []held    // what it stands at
	wait  func()    // until its recovery stands still
	fiber string    // its first fiber's id, where the moment wants it
	room  *stage    // of a relay
	heard *listener // of a session
}

// held is a call at which an object stands. left is closed when whoever called has
// closed the connection; nil where that is not seen.
type held struct {
	release func()
	left    <-chan struct{}
}

// strikeAll hits what stands still: each object, or with SIGKILL all at once.
func strikeAll(fault string, set *stageSet, standing []*subject, group []moment) {
	old := make([][]held, len(standing))
	for i, o := range standing {
		old[i], o.gates = o.gates, nil
		if group[i].again != nil && o.blows == 0 {
			o.wait = group[i].again(o)
		}
	}
	if fault == "SIGKILL" {
		set.crash()
	}
	for i, o := range standing {
		if fault != "SIGKILL" {
			o.hit(fault, group[i].class, o.name+group[i].below)
		}
		o.blows++
		for _, call := range old[i] {
			if fault != "reset" && set.ownCalls && call.left != nil { // after a reset the worker goes on with what it has begun
				o.waitFor(call.left)
			}
			call.release() // what the old life waited for comes; it must have no effect
		}
	}
}

// release lets everything go on at which the object stands.
func (o *subject) release() {
	for _, call := range o.gates {
		call.release()
	}
	o.gates = nil
}

// waitFor waits until the caller of a held call has left.
func (o *subject) waitFor(left <-chan struct{}) {
	o.t.Helper()
	if err := wait.Channel(o.t.Context(), clock.Real{}, limit, o.name+"'s call ends with it", left); err != nil {
		o.t.Error(err)
	}
}

// hit hits one object by a verb of the control API.
func (o *subject) hit(verb, class, object string) {
	o.t.Helper()
	request := control.ActRequest{Class: class, Object: object}
	err := o.act("/v1/"+verb, request, nil)
	var refused *control.CallError
	if errors.As(err, &refused) && refused.Code == "refused" {
		request.Force = true
		err = o.act("/v1/"+verb, request, nil)
	}
	if err != nil {
		o.t.Fatalf("%s of %s/%s: %v", verb, class, object, err)
	}
}

// run hits a system at all its moments, those with as many blows at a time, and
// returns the names of the moments at which it did not hold.
func (s system) run(t *testing.T, set *stageSet, fault string) (failed []string) {
	for _, blows := range []int{1, 2} {
		var group []moment
		var subjects []*subject
		for i, m := range s.moments {
			if (m.again != nil) == (blows == 2) {
				group = append(group, m)
				subjects = append(subjects, &subject{stageSet: set, name: fmt.Sprintf("%s-m%d", fault, i), fault: fault})
				m.stand(subjects[len(subjects)-1])
			}
		}
		strikeAll(fault, set, subjects, group)
		if blows == 2 {
			for _, o := range subjects {
				o.wait()
			}
			strikeAll(fault, set, subjects, group)
		}
		for i, m := range group {
			ok := t.Run(m.name, func(t *testing.T) {
				m.check(subjects[i].of(t))
			})
			if !ok {
				failed = append(failed, m.name)
			}
		}
	}
	return failed
}

// of is the subject in a test of its own, which gets what its helpers report.
func (o *subject) of(t *testing.T) *subject {
	mine, lives, set := *o, *o.lives, *o.stageSet
	lives.t = t
	set.lives = &lives
	mine.stageSet = &set
	return &mine
}

// steadyDev is a server whose objects leave memory when they are hit, and at no
// other time, however long a slow machine leaves them idle.
func steadyDev(t *testing.T, flags ...string) server {
	t.Helper()
	return dev(t, append(slices.Clone(flags), "--eviction", "off")...)
}

// systems are the rows of the table.
func systems() []system {
	return slices.Concat(fiberSystems(), chatSystems(), foreverSystems(), []system{sessionSystem(), relaySystem(), loopSystem()})
}

// Each system is hit by each fault at each of its moments, always from a fresh
// object, and its invariants hold; where a published package's own mistake
// breaks one, the moment names it and pins it. The README's table is what this
// test found.
func TestSystemsSurvive(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	survived := map[string]int{} // of "fixture fault"
	all := systems()
	ran := t.Run("hit", func(t *testing.T) {
		for _, s := range all {
			t.Run(s.fixture, func(t *testing.T) {
				t.Parallel()
				set := s.begin(t, steadyDev)
				for _, fault := range faults {
					t.Run(fault, func(t *testing.T) {
						failed := s.run(t, set, fault)
						mu.Lock()
						defer mu.Unlock()
						survived[s.fixture+" "+fault] = len(s.moments) - len(failed)
					})
				}
			})
		}
	})
	if len(survived) < len(all)*len(faults) {
		return // a filter left some out
	}
	checkTable(t, ran, "README.md", table(all, survived))
	checkTable(t, ran, "docs/systems.md", moments(all))
}

// Each system runs on the reference, too, through the same moments with nothing
// that hits it, and its invariants hold. Left out are the moments of recoveries,
// and those of packages' mistakes, which begin with a blow; and env.AI, which
// needs an account there (see withAI).
func TestDifferentialSystems(t *testing.T) {
	wranglerModules(t)
	for _, s := range systems() {
		t.Run(s.fixture, func(t *testing.T) {
			t.Parallel()
			set := s.begin(t, wranglerDev)
			for i, m := range s.moments {
				if m.again != nil || m.bug != "" {
					continue // a moment of a recovery
				}
				t.Run(m.name, func(t *testing.T) {
					o := (&subject{stageSet: set, name: fmt.Sprintf("m%d", i)}).of(t)
					m.stand(o)
					o.release()
					m.check(o)
				})
			}
		})
	}
}

// table is the README's table of what the systems survived.
func table(all []system, survived map[string]int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| system | fixture | %s |\n|---|---|%s\n", strings.Join(faults, " | "), strings.Repeat("---|", len(faults)))
	for _, s := range all {
		fmt.Fprintf(&b, "| %s | [`%s`](fixtures/%s) |", s.title, s.fixture, s.fixture)
		for _, fault := range faults {
			fmt.Fprintf(&b, " %d of %d |", survived[s.fixture+" "+fault], len(s.moments))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// moments says at which moments the systems are hit, and what the packages get
// wrong there.
func moments(all []system) string {
	var b strings.Builder
	b.WriteString("\nThe moments:\n")
	writeShared(&b, all, func(s system) (lines []string) {
		var names []string
		for _, m := range s.moments {
			names = append(names, m.name)
		}
		return []string{strings.Join(names, "; ")}
	})
	b.WriteString("\nBugs of the published packages that the tests found and expect:\n")
	writeShared(&b, all, func(s system) (lines []string) {
		for _, m := range s.moments {
			if line := m.name + ": " + m.bug; m.bug != "" && !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
		return lines
	})
	return b.String()
}

// writeShared writes lines that systems have, each with the fixtures that have it.
func writeShared(b *strings.Builder, all []system, of func(system) []string) {
	var lines []string
	fixtures := map[string][]string{} // by line
	for _, s := range all {
		for _, line := range of(s) {
			if fixtures[line] == nil {
				lines = append(lines, line)
			}
			fixtures[line] = append(fixtures[line], "`"+s.fixture+"`")
		}
	}
	for _, line := range lines {
		fmt.Fprintf(b, "- %s: %s.\n", strings.Join(fixtures[line], ", "), line)
	}
}

const (
	tableBegin = "<!-- survived: written by `go test ./e2e -run TestSystemsSurvive -update` -->\n"
	tableEnd   = "<!-- survived ends -->\n"
)

// checkTable holds what a run found against what a document says, or writes it
// there.
func checkTable(t *testing.T, ran bool, document, got string) {
	t.Helper()
	path := filepath.Join("..", filepath.FromSlash(document))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), tableBegin)
	old, after, ended := strings.Cut(rest, tableEnd)
	if !found || !ended {
		t.Fatalf("%s has no %q and %q", path, tableBegin, tableEnd)
	}
	switch {
	case old == got:
	case golden.Update() && ran:
		if err := os.WriteFile(path, []byte(before+tableBegin+got+tableEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s says something else; if this is right, run with -update:\n%s", document, got)
	}
}
