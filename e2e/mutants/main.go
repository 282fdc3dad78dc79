// Command mutants changes the code that promises durability, one line at a time, and
// checks that a test notices. `make mutants` runs it.
//
// It covers the path of a commit and the index of alarms, with -core only these, and
// what they rest on (targets.go): it deletes
// statements, swaps neighbours, negates conditions, moves bounds by one, drops
// calls and errors, returns at once. First each test of the target's packages runs
// by itself, to learn what it covers and how long it takes (plan.go). Then all
// mutants are built into one binary for each package of tests (schemata.go), and for
// each the tests that cover it run: those first that have killed it before the code
// changed, or others of its function, then the quickest. What a run has found stands
// in the results file, under the name of the mutant and sums of the code and the
// tests: a run that was stopped goes on where it was, and after a change of the tests
// what lived is tried again. (What a test has killed stays killed: delete the file
// after tests were taken away.) Mutants are taken in an order without meaning, so that
// those tested so far are a sample of all; the named ones (targets.go) come first.
// Mutants that change nothing that can be seen are listed in equivalent.txt, each
// with its reason.
//
// The exit code is 1 if a mutant lives.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"minido.dev/minido/internal/clock"
)

func main() {
	o := options{clock: clock.Real{}}
	flag.StringVar(&o.top, "top", ".", "the repository")
	flag.StringVar(&o.results, "results", "minido-out/mutants.jsonl", "what earlier runs found")
	flag.StringVar(&o.plan, "plan", "minido-out/mutants-tests.jsonl", "what each test covers, from an earlier run")
	flag.StringVar(&o.only, "only", "", "only mutants whose name contains this")
	flag.BoolVar(&o.core, "core", false, "only mutants of the commit path itself and of the index of alarms")
	flag.IntVar(&o.parallel, "parallel", 1, "mutants at the same time")
	flag.IntVar(&o.most, "most", 0, "test at most this many; 0: all")
	flag.DurationVar(&o.budget, "budget", 30*time.Second, "of tests, by package, for each mutant without a name")
	flag.DurationVar(&o.longest, "longest", 10*time.Minute, "do not wait longer for a test, to learn what it covers")
	flag.DurationVar(&o.limit, "for", 0, "begin no mutant after this long; 0: until all are done")
	flag.BoolVar(&o.list, "list", false, "list the mutants and end")
	flag.Parse()
	alive, err := run(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if alive > 0 {
		os.Exit(1)
	}
}

type options struct {
	top, results, plan, only string
	parallel, most           int
	budget, limit, longest   time.Duration
	core, list               bool
	clock                    clock.Clock
}

// job is a mutant to be tested.
type job struct {
	numbered
	equivalent string // why it changes nothing, "" if it does
}

func run(o options) (alive int, err error) {
	if o.top, err = filepath.Abs(o.top); err != nil {
		return 0, err
	}
	jobs, err := allJobs(o.top)
	if err != nil {
		return 0, err
	}
	wanted := jobs[:0]
	for _, j := range jobs {
		if strings.Contains(j.name(), o.only) && (!o.core || isCore(j.File)) {
			wanted = append(wanted, j)
		}
	}
	if o.list {
		for _, j := range wanted {
			fmt.Println(j.name())
		}
		return 0, nil
	}
	return testAll(o, wanted)
}

// allJobs lists all mutants, in the order of testing.
func allJobs(top string) ([]job, error) {
	same, err := readEquivalents(filepath.Join(top, "e2e", "mutants", "equivalent.txt"))
	if err != nil {
		return nil, err
	}
	all, err := allMutants(top)
	if err != nil {
		return nil, err
	}
	var jobs []job
	for _, m := range all {
		jobs = append(jobs, job{numbered{m, len(jobs) + 1}, same[m.name()]})
		delete(same, m.name())
	}
	for name := range same { // order-independent: any one is an error
		return nil, fmt.Errorf("equivalent.txt names a mutant that does not exist: %s", name)
	}
	return jobs, nil
}
