// Command mutants changes the code that promises durability, one line at a time,
// and looks whether a test notices. `make mutants` runs it.
//
// It covers the path of a commit and the index of alarms (targets.go): it deletes
// statements, swaps neighbours, negates conditions, moves bounds by one, drops
// errors. Each mutant is built with go test -overlay and tested by the target's
// packages, the fastest first. What a run has found stands in the results file,
// under the name of the mutant and a sum of the tests and the code: a run that
// was stopped goes on where it was. Mutants that change nothing that can be seen
// are listed in equivalent.txt, each with its reason.
//
// The exit code is 1 if a mutant lives.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"minido.dev/minido/internal/clock"
)

func main() {
	o := options{clock: clock.Real{}}
	flag.StringVar(&o.top, "top", ".", "the repository")
	flag.StringVar(&o.results, "results", "minido-out/mutants.jsonl", "what earlier runs found")
	flag.StringVar(&o.only, "only", "", "only mutants whose name contains this")
	flag.IntVar(&o.parallel, "parallel", 2, "tests at the same time")
	flag.IntVar(&o.every, "every", 1, "only each nth mutant")
	flag.DurationVar(&o.limit, "for", 0, "start no test after this long; 0: until all are done")
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
	top, results, only string
	parallel, every    int
	limit              time.Duration
	list               bool
	clock              clock.Clock
}

func run(o options) (alive int, err error) {
	if o.top, err = filepath.Abs(o.top); err != nil {
		return 0, err
	}
	same, err := readEquivalents(filepath.Join(o.top, "e2e", "mutants", "equivalent.txt"))
	if err != nil {
		return 0, err
	}
	var jobs []job
	n := 0
	for _, t := range targets {
		list, err := mutate(o.top, t.file, t.funcs)
		if err != nil {
			return 0, err
		}
		for _, m := range list {
			if n++; matches(o, m, n) {
				jobs = append(jobs, job{mutant: m, tests: t.tests, equivalent: same[m.name()]})
				delete(same, m.name())
			} else {
				delete(same, m.name())
			}
		}
	}
	for name := range same { // order-independent: any one is an error
		return 0, fmt.Errorf("equivalent.txt names a mutant that does not exist: %s", name)
	}
	if o.list {
		for _, j := range jobs {
			fmt.Println(j.name())
		}
		return 0, nil
	}
	return testAll(o, jobs)
}
