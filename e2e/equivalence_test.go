package e2e

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"minido.dev/minido/chaos/evidence"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/world"
)

// subjects are the fixtures and what their clients do; without steps, the
// fixture's scenario says it.
var subjects = []struct {
	fixture string
	steps   []string
	quick   bool // part of make test, with some of its points
	steady  bool // passes the same points however slow the machine is
}{
	{fixture: "counter", steps: []string{"--fetch", "POST /c/add?by=1", "--fetch", "POST /c/wake?ms=100"}, quick: true, steady: true},
	{fixture: "planted", steps: []string{"--fetch", "POST /add", "--fetch", "POST /job", "--effects", "SINK"}},
	{fixture: "relay", quick: true},
	{fixture: "session"},
	{fixture: "steploop"},
	{fixture: "strangers/notes", steps: []string{"--fetch", "GET /notes/a"}},
	{fixture: "fibers", quick: true},
	{fixture: "fibers/cycles"},
	{fixture: "fibers-0.11"},
	{fixture: "fibers-0.21"},
	{fixture: "chat"},
	{fixture: "chat-0.4"},
	{fixture: "chat-0.10"},
	{fixture: "forever"},
	{fixture: "forever-0.5"},
}

// everything is what `make equivalence` asks for: each point of each fixture.
var everything = os.Getenv("MINIDO_EQUIVALENCE") != ""

// eachSubject runs fn for those that are wanted; steady leaves those away whose
// real runs depend on time.
func eachSubject(t *testing.T, steady bool, fn func(t *testing.T, fixture string, steps []string)) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGKILL")
	}
	for _, s := range subjects {
		if everything || s.quick && (s.steady || !steady) {
			t.Run(s.fixture, func(t *testing.T) { fn(t, s.fixture, s.steps) })
		}
	}
}

// A world that is dropped at a point leaves what a process leaves that runs the
// same world and gets a real SIGKILL there: the same files with the same tables
// and rows, and the same history before it.
func TestEquivalenceOfDeaths(t *testing.T) {
	eachSubject(t, false, func(t *testing.T, name string, steps []string) {
		flags := append([]string{"--mode", "sim", "--keep", "--pace", "0s"}, steps...)
		if !everything {
			flags = append(flags, "--max", "4")
		}
		r, out := campaignOf(t, "enumerate", fixture(t, name), flags...)
		if len(r.Cases) == 0 {
			t.Fatalf("no cases\n%s", out)
		}
		cases, deaths := make(chan result.Case), 0
		var wg sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			wg.Go(func() {
				for c := range cases {
					if err := dieForReal(t.TempDir(), fixture(t, name), c, steps); err != nil {
						t.Errorf("%s: %v", c.Name, err)
					}
				}
			})
		}
		for _, c := range r.Cases {
			if !betweenSteps(c) && !hibernates(c) {
				cases <- c
				deaths++
			}
		}
		close(cases)
		wg.Wait()
		t.Logf("%s: %d deaths compared", name, deaths)
	})
}

// betweenSteps reports whether a case dies at no effect point, but before a step of the clients.
func betweenSteps(c result.Case) bool { return strings.Contains(c.Name, "@step#") }

// hibernates reports whether in a case an object hibernates, and nothing dies.
func hibernates(c result.Case) bool { return strings.HasPrefix(c.Name, "hibernate@") }

// dieForReal runs the case's plan in a process that kills itself, and compares
// what that leaves with the death of the case.
func dieForReal(dir, project string, c result.Case, steps []string) error {
	args := append([]string{"chaos", "replay", project, "--mode", "sim", "--sigkill", "--jobs", "1", "--plan", c.Name, "--dir", dir}, steps...)
	cmd := exec.Command(minido, args...)
	out, err := cmd.CombinedOutput()
	if state := cmd.ProcessState; state == nil || state.Exited() {
		return fmt.Errorf("it did not die by a signal: %w\n%s", err, out)
	}
	real := filepath.Join(dir, "case-0001")
	return errors.Join(
		sameFiles(filepath.Join(c.Dir, "death-1"), filepath.Join(real, "state-1")),
		sameLog(filepath.Join(c.Dir, "server.log"), filepath.Join(real, "server.log")),
		os.RemoveAll(dir))
}

// sameLog says that the log of the process is that of the simulation up to the
// death.
func sameLog(dropped, killed string) error {
	one, err1 := os.ReadFile(dropped)
	two, err2 := os.ReadFile(killed)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	rest, begins := bytes.CutPrefix(one, two)
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	if begins && bytes.Contains(line, []byte(" killed at ")) {
		return nil
	}
	return fmt.Errorf("the histories differ: %s", world.FirstDifference(strings.Split(string(one), "\n"), strings.Split(string(two), "\n")))
}

// sameFiles compares two state directories: databases by their tables, other
// files by their bytes. Shared memory and the directory's lock die with a
// process.
func sameFiles(dropped, killed string) error {
	one, err1 := stateFiles(dropped)
	two, err2 := stateFiles(killed)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if !slices.Equal(one, two) {
		return fmt.Errorf("the files are %v, and after SIGKILL %v", one, two)
	}
	for _, name := range one {
		read := os.ReadFile
		switch filepath.Ext(name) {
		case ".sqlite":
			read = dump
		case ".sqlite-history":
			read = pastOf
		}
		a, err1 := read(filepath.Join(dropped, name))
		b, err2 := read(filepath.Join(killed, name))
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if !bytes.Equal(a, b) {
			return fmt.Errorf("%s differs: %s", name, world.FirstDifference(strings.Split(string(a), "\n"), strings.Split(string(b), "\n")))
		}
	}
	return nil
}

// stateFiles lists the files of a state directory; a log is part of its database.
func stateFiles(dir string) (names []string, err error) {
	err = filepath.WalkDir(filepath.Join(dir, "v3"), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == filepath.Join(dir, "v3") {
			return nil // it died before anything was stored
		}
		if err != nil || d.IsDir() || strings.HasSuffix(path, "-shm") || strings.HasSuffix(path, "-wal") {
			return err
		}
		name, err := filepath.Rel(dir, path)
		names = append(names, name)
		return err
	})
	return names, err
}

// pastOf is the file of a database's past, without what tells its log from
// another: SQLite draws the salts of a log by itself (sqlite.org/fileformat2.html,
// section 4.1), and the file system says when a file was written. Records have a
// kind, a length, two checksums and a payload; those of kind 2 hold salts, those of
// kind 5 a time.
func pastOf(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	for at := 0; err == nil && at+16 <= len(data); {
		payload := int(binary.LittleEndian.Uint32(data[at+4:]))
		if at+16+payload > len(data) {
			break // a record that was being written
		}
		switch binary.LittleEndian.Uint32(data[at:]) {
		case 2:
			clear(data[at+8 : at+12])
			clear(data[at+24 : at+40])
		case 5:
			clear(data[at+8 : at+12])
			clear(data[at+24 : at+32])
		}
		clear(data[at+12 : at+16])
		at += 16 + payload
	}
	return data, err
}

// dump is everything in a database, as text: its schema and each table's rows in
// their order.
func dump(path string) (text []byte, err error) {
	db, err := evidence.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var out bytes.Buffer
	tables, err := db.Tables()
	for _, table := range append([]string{"sqlite_schema"}, tables...) {
		rows, e := db.Query("SELECT * FROM " + evidence.QuoteName(table))
		err = errors.Join(err, e)
		for _, row := range rows {
			fmt.Fprintf(&out, "%s %q\n", table, map[string]any(row)) // fmt sorts the columns
		}
	}
	return out.Bytes(), err
}

// maxSeeds bounds how many orders of events are tried for the labels of real runs.
const maxSeeds = 60

// What real processes pass is nothing new to the simulation: each label of their
// clean runs is met under some seed.
func TestEquivalenceOfLabels(t *testing.T) {
	eachSubject(t, true, func(t *testing.T, name string, steps []string) {
		none := append([]string{"--plan", "none", "--keep"}, steps...)
		r, out := campaignOf(t, "replay", fixture(t, name), append([]string{"--runs", "2", "--jobs", "1"}, none...)...)
		missing := map[string]bool{}
		for _, c := range r.Cases {
			points, err := process.ReadPoints(filepath.Join(c.Dir, "points-1.ndjson"))
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, p := range points {
				// How often the harness asks whether it is done is its own pace.
				if !strings.Contains(p.Label, "/"+killpoint.Question+"#") {
					missing[p.Label] = true
				}
			}
		}
		if len(missing) == 0 {
			t.Fatalf("a real run passed no points\n%s", out)
		}
		labels, seed := len(missing), 0
		for seed = 1; seed <= maxSeeds && len(missing) > 0; seed++ {
			r, out := campaignOf(t, "replay", fixture(t, name), append([]string{"--mode", "sim", "--jobs", "1", "--seed", fmt.Sprint(seed)}, none...)...)
			log, err := os.ReadFile(filepath.Join(r.Cases[0].Dir, "server.log"))
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for line := range strings.Lines(string(log)) {
				if _, label, found := strings.Cut(strings.TrimSpace(line), " point "); found {
					delete(missing, label)
				}
			}
		}
		for label := range missing {
			t.Errorf("no seed of %d passes %s", maxSeeds, label)
		}
		t.Logf("%s: %d labels of real runs, found with %d seeds", name, labels, seed-1)
	})
}

// What real processes violate somewhere, the simulation violates, too: a fixture
// that is right in one mode is right in the other, at each label.
func TestEquivalenceOfInvariants(t *testing.T) {
	if !everything {
		t.Skip("make equivalence visits each label with real processes")
	}
	eachSubject(t, false, func(t *testing.T, name string, steps []string) {
		simulated, _ := campaignOf(t, "enumerate", fixture(t, name), append([]string{"--mode", "sim", "--pace", "0s"}, steps...)...)
		known := map[string]bool{}
		for _, c := range simulated.Cases {
			for _, v := range c.Violations {
				known[v.Key()] = true
			}
		}
		r, out := campaignOf(t, "enumerate", fixture(t, name), steps...)
		if r.Visited == 0 {
			t.Fatalf("no point was visited\n%s", out)
		}
		for _, c := range r.Cases {
			if c.Outcome != result.Passed && c.Outcome != result.Missed && c.Outcome != result.Violated {
				t.Errorf("%s: %s: %s", c.Name, c.Outcome, c.Text)
			}
			for _, v := range c.Violations {
				if !known[v.Key()] {
					t.Errorf("%s: the simulation does not know %s", c.Name, v)
				}
			}
		}
		t.Logf("%s: %d of %d points visited, kinds of violations that the simulation found: %d", name, r.Visited, r.Points, len(known))
	})
}

// Deaths that are said to leave the very same world do: each of them, run by
// itself, goes on as the other, line by line, and has the result that it was given.
// And a run whose first lives were played back is, in all that was observable, the
// run in which they were lived.
func TestSameWorlds(t *testing.T) {
	t.Parallel()
	eachSubject(t, false, func(t *testing.T, name string, steps []string) {
		depth := "1"
		switch {
		case everything && name == "counter":
			depth = "2"
		case !everything && name == "fibers":
			t.Skip("part of make equivalence")
		}
		flags := append([]string{"--mode", "sim", "--depth", depth}, steps...)
		judged, out := campaignOf(t, "enumerate", fixture(t, name), flags...)
		run, each := campaignOf(t, "enumerate", fixture(t, name), append(flags, "--keep")...)
		if len(judged.Cases) != len(run.Cases) || judged.Code != run.Code || run.Same != 0 || len(judged.Unmet) != len(run.Unmet) {
			t.Fatalf("%d cases, %d by themselves\n%s%s", len(judged.Cases), len(run.Cases), out, each)
		}
		real := map[string]result.Case{}
		for _, c := range run.Cases {
			real[c.Title()] = c
		}
		same := 0
		for _, c := range judged.Cases {
			own := real[c.Title()]
			if hibernates(c) || betweenSteps(c) {
				continue // nothing dies, or nothing was recorded
			}
			if len(own.Kills) == 0 {
				t.Fatalf("%s did not die", c.Name)
			}
			if at := own.Kills[len(own.Kills)-1].Point; !strings.HasSuffix(c.Name, "kill@"+at) {
				t.Errorf("%s died at %s", c.Name, at)
			}
			if c.Outcome != own.Outcome || !slices.EqualFunc(c.Kills, own.Kills, sameKill) || len(c.Violations) != len(own.Violations) || c.Replay != own.Replay {
				t.Errorf("%s was said to be %+v, and is %+v", c.Name, c, own)
			}
			if c.SameAs == "" {
				if c.Digest != own.Digest || c.PlayedBack != len(c.Kills) || own.PlayedBack != 0 {
					t.Errorf("%s: played back up to its death (%d lives), it went otherwise", c.Name, c.PlayedBack)
				}
				continue
			}
			same++
			if err := sameSequel(own.Dir, real[result.Case{Name: c.SameAs, Pace: c.Pace}.Title()].Dir, len(own.Kills)); err != nil {
				t.Errorf("%s and %s: %v", c.Name, c.SameAs, err)
			}
		}
		if same == 0 || same != judged.Same {
			t.Errorf("%d cases are the same as others, the report has %d", same, judged.Same)
		}
		t.Logf("%s: %d of %d deaths leave the world of another", name, same, len(judged.Cases))
	})
}

func sameKill(one, two result.Kill) bool {
	return one.Point == two.Point && one.AtMs == two.AtMs && one.Fibers == two.Fibers
}

// sameSequel compares what two simulations logged after each of their deaths, up to
// the points of the next one, and the files of the last.
func sameSequel(one, two string, deaths int) error {
	var lives [2][]string
	for i, dir := range []string{one, two} {
		text, err := os.ReadFile(filepath.Join(dir, "server.log"))
		if err != nil {
			return err
		}
		lives[i] = strings.Split(string(text), " killed")
	}
	if len(lives[0]) != len(lives[1]) || len(lives[0]) < deaths+1 {
		return fmt.Errorf("the logs have %d and %d lives", len(lives[0]), len(lives[1]))
	}
	for n := range lives[0] {
		a, b := lives[0][n], lives[1][n]
		if n > 0 { // the label of the death before
			_, a, _ = strings.Cut(a, "\n")
			_, b, _ = strings.Cut(b, "\n")
		}
		if n < deaths { // it may end some points earlier
			a, b = a[:strings.LastIndexByte(a, '\n')+1], b[:strings.LastIndexByte(b, '\n')+1]
			if !strings.HasPrefix(b, a) && !strings.HasPrefix(a, b) {
				return fmt.Errorf("life %d is another:\n%s\nand\n%s", n+1, a, b)
			}
			continue
		}
		if a != b {
			return fmt.Errorf("life %d goes on otherwise: %s", n+1, world.FirstDifference(strings.Split(a, "\n"), strings.Split(b, "\n")))
		}
	}
	return sameFiles(filepath.Join(one, fmt.Sprintf("death-%d", deaths)), filepath.Join(two, fmt.Sprintf("death-%d", deaths)))
}
