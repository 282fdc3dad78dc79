package campaign

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/corpus"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/runtime/server"
)

// JournalFile, in the directory of an Enumerate or Random, has a line of JSON for each case
// that has ended, also for those that the report counts alone. A campaign goes on from it
// (Options.Resume).
const JournalFile = "cases.ndjson"

// entry is a line of the journal.
type entry struct {
	// Campaign is what the journal is of: its first line.
	Campaign *identity    `json:"campaign,omitempty"`
	Case     *result.Case `json:"case,omitempty"`
	// N is the number of a plan that was drawn, from 1; 0 for others.
	N int `json:"n,omitempty"`
	// Pairs and Points are what such a plan reached, if it was news (corpus).
	Pairs  []uint64 `json:"pairs,omitempty"`
	Points []string `json:"points,omitempty"`
	// Marks are those of which more is known since the last line.
	Marks map[string]bool `json:"marks,omitempty"`
}

// identity is what must not change when a campaign goes on.
type identity struct {
	Verb   string `json:"verb"`
	Replay string `json:"replay"` // of the run without a fault: the project and what clients do
	Fault  string `json:"fault,omitempty"`
	Shard  string `json:"shard,omitempty"`
	Depth  int    `json:"depth,omitempty"`
	Max    int    `json:"max,omitempty"`
	Seed   uint64 `json:"seed,omitempty"`
	// Digest is a hash of the project's versions and of the scenario.
	Digest string `json:"digest,omitempty"`
}

// journal is written by one goroutine at a time. nil takes and forgets everything.
type journal struct {
	file *os.File
	err  error // of the first line that could not be written
}

// digestOf is identity.Digest, once a run without faults has made what servers load.
func (c *campaign) digestOf() (string, error) {
	bundles := c.bundles
	if c.Mode != Sim {
		bundles = &server.Bundles{Dir: filepath.Join(c.dir, frozenDir)}
	}
	h := sha256.New()
	for _, v := range c.versions {
		p, err := chaos.LoadProject(v.config, c.Env, nil)
		if err != nil {
			return "", err
		}
		digest, err := bundles.Digest(p, c.cache)
		if err != nil {
			return "", fmt.Errorf("campaign: %w", err)
		}
		fmt.Fprintln(h, digest)
	}
	if c.Script != nil {
		fmt.Fprintln(h, c.Script.Digest())
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

func (c *campaign) identity() identity {
	o := c.Options
	if !o.OnePace {
		o.Pace = 0 // the points of both paces are in one journal
	}
	o.Horizon, o.Within = c.asked.Horizon, c.asked.Within
	id := identity{Digest: c.digest, Verb: c.report.Verb, Replay: o.replay(fault.Plan{}), Shard: c.report.Shard, Depth: c.depth, Max: c.Max, Seed: c.report.Seed}
	if c.report.Verb == "enumerate" {
		id.Fault = c.Fault.Kind()
	}
	return id
}

// openJournal begins the journal, or goes on with one that is there: then the cases in it
// are taken into the report, and not run again.
func (c *campaign) openJournal() (err error) {
	if c.digest == "" {
		if c.digest, err = c.digestOf(); err != nil {
			return err
		}
	}
	path := filepath.Join(c.dir, JournalFile)
	flags := os.O_RDWR | os.O_CREATE
	if !c.Resume && !c.goesOn {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	c.journal = &journal{file: f}
	end, err := c.restore(f)
	if err == nil {
		err = f.Truncate(end) // the line that was being written when the campaign was killed
	}
	if err == nil {
		_, err = f.Seek(end, io.SeekStart)
	}
	if err != nil {
		if chaos.IsUsage(err) {
			return err
		}
		return fmt.Errorf("campaign: %s: %w", path, err)
	}
	if end == 0 {
		id := c.identity()
		c.journal.write(entry{Campaign: &id})
	}
	return nil
}

// restore reads the whole lines of a journal, and returns where they end.
func (c *campaign) restore(f *os.File) (end int64, err error) {
	in := bufio.NewReaderSize(f, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return end, nil
		}
		if err != nil {
			return end, err
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return end, fmt.Errorf("at byte %d: %w", end, err)
		}
		if end == 0 {
			want := c.identity()
			if e.Campaign != nil && e.Campaign.Digest != want.Digest {
				was := *e.Campaign
				if was.Digest = want.Digest; was == want {
					return 0, &chaos.UsageError{Text: fmt.Sprintf("the project or the scenario has changed since the campaign in %s began, and what it has found is of what it was then; "+
						"leave out --resume to begin anew there, or give another --dir.", filepath.Dir(f.Name()))}
				}
			}
			if e.Campaign == nil || *e.Campaign != want {
				return 0, &chaos.UsageError{Text: fmt.Sprintf("%s holds the progress of another campaign, with other flags; give another --dir, or leave out --resume to begin anew.", f.Name())}
			}
		}
		end += int64(len(line))
		c.take(e)
	}
}

// take takes a line of an earlier run of this campaign into the report.
func (c *campaign) take(e entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, met := range e.Marks { // order-independent: a set
		c.note(name, met)
	}
	if e.Case == nil || e.Case.Pace != c.paceName() {
		return // of the other pace: that report has it
	}
	if c.done == nil {
		c.done = map[uint64]bool{}
	}
	if e.N > 0 {
		c.drawn.take(e.N)
		if len(e.Pairs) > 0 {
			if c.before == nil {
				c.before = map[int]corpus.Entry{}
			}
			c.before[e.N] = corpus.Entry{Plan: e.Case.Name, Pairs: e.Pairs, Points: e.Points}
		}
	} else {
		c.done[keyOf(*e.Case)] = true
	}
	c.report.Resumed++
	c.count(*e.Case)
	if !e.Case.Outcome.OK() && e.Case.Replay != "" {
		c.Progress(result.Event{Campaign: &c.report, Case: e.Case, Planned: c.planned})
	}
}

// keyOf tells the cases of an enumeration apart.
func keyOf(c result.Case) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, c.Title()) // a hash takes everything
	return h.Sum64()
}

// write adds a line. A line is whole on the disk, or cut and ignored: so that a process
// which is killed loses no more than the cases that it ran.
func (j *journal) write(e entry) {
	if j == nil || j.err != nil {
		return
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = j.file.Write(append(line, '\n'))
	}
	if err != nil {
		j.err = fmt.Errorf("campaign: %s: %w", JournalFile, err)
	}
}

func (j *journal) close() error {
	if j == nil {
		return nil
	}
	return errors.Join(j.err, j.file.Close())
}

// short is what a journal keeps of a case that the report counts alone: it can be found
// and replayed by its name, pace and seed.
func short(c result.Case) result.Case {
	c.Replay, c.Confirm, c.Checkers, c.Digest = "", "", nil, ""
	if c.Outcome.OK() {
		c.Text = ""
	}
	return c
}

// numbers are those of the plans that have been run: all up to next, and those above it
// that others have overtaken, or between which are those of other shards.
type numbers struct {
	next  int
	above map[int]bool
}

func (n *numbers) has(i int) bool { return i <= n.next || n.above[i] }

func (n *numbers) take(i int) {
	if n.above == nil {
		n.above = map[int]bool{}
	}
	n.above[i] = true
	for n.above[n.next+1] {
		n.next++
		delete(n.above, n.next)
	}
}

// resumable says what a directory must be for Options.Resume: named, and there or not.
func resumable(o Options) error {
	if !o.Resume {
		return nil
	}
	if o.Dir == "" {
		return &chaos.UsageError{Text: "--resume goes on with the campaign in a directory: name it with --dir, as when the campaign began."}
	}
	if info, err := os.Stat(o.Dir); err == nil && !info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &chaos.UsageError{Text: fmt.Sprintf("--dir %s is no directory", o.Dir)}
	}
	return nil
}
