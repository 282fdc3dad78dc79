package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"minido.dev/minido/chaos/outside"
	"minido.dev/minido/chaos/process"
)

// slot runs cases one after the other, with standbys of its own. Confined to
// one goroutine.
type slot struct {
	camp     *campaign
	seed     uint64 // of the next case of a simulation; 0 is that of the options
	last     bool   // no case follows the present one
	standbys []*standby
	sink     *outside.Sink  // nil without one
	model    *outside.Model // nil without one
}

// standby is a child that is being prepared, or waits for a state to serve. The
// fields after ready are written before that is closed.
type standby struct {
	loads  int // of campaign.versions
	log    *process.LogSwitch
	cancel context.CancelCauseFunc
	ready  chan struct{}
	child  *process.Standby
	err    error
}

// loads are the versions that so many lives load, and one that wakes if it follows.
func (c *campaign) loads(lives int) (versions []int) {
	if c.newest() > 0 && lives > 1 {
		lives++
	}
	for n := range lives {
		versions = append(versions, min(n, c.newest()))
	}
	return versions
}

// stock has a child stand by for each of these versions, and returns at once.
func (s *slot) stock(versions []int) {
	have := map[int]int{}
	for _, w := range s.standbys {
		have[w.loads]++
	}
	for _, v := range versions {
		if have[v]--; have[v] >= 0 {
			continue
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		w := &standby{loads: v, log: process.NewLogSwitch(s.camp.Log), cancel: cancel, ready: make(chan struct{})}
		s.standbys = append(s.standbys, w)
		command := append(append([]string{}, s.camp.Server...), s.camp.childFlags(s, s.camp.versions[v])...)
		s.camp.scheduler.Go("standby", func() {
			defer close(w.ready)
			w.child, w.err = s.camp.nursery.Prepare(ctx, process.Options{Command: command, Log: w.log, Scheduler: s.camp.scheduler})
		})
	}
}

// await waits until all that stand by are prepared. What became of them is for
// take to say.
func (s *slot) await(ctx context.Context) {
	for _, w := range s.standbys {
		select {
		case <-w.ready:
		case <-ctx.Done():
		}
	}
}

// take returns a child that has its bundle evaluated and waits.
func (s *slot) take(ctx context.Context, log io.Writer, version int) (*process.Standby, error) {
	s.stock([]int{version})
	i := slices.IndexFunc(s.standbys, func(w *standby) bool { return w.loads == version })
	w := s.standbys[i]
	s.standbys = slices.Delete(s.standbys, i, i+1)
	w.log.To(log)
	select {
	case <-w.ready:
		return w.child, w.err
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), w.close(context.Cause(ctx)))
	}
}

// close ends the child, also one that is not there yet.
func (w *standby) close(cause error) error {
	w.cancel(cause)
	<-w.ready
	if w.child == nil {
		return nil // it was told to end, or its failure was nobody's
	}
	return w.child.Close()
}

// errUnneeded ends the standbys of a slot that has no more cases.
var errUnneeded = errors.New("the campaign is over")

func (s *slot) close() error {
	var errs []error
	for _, w := range s.standbys {
		errs = append(errs, w.close(errUnneeded))
	}
	s.standbys = nil
	err := errors.Join(errs...)
	if s.sink != nil {
		err = errors.Join(err, s.sink.Close())
	}
	if s.model != nil {
		err = errors.Join(err, s.model.Close())
	}
	return err
}

// childFlags are the flags of package child's command.
func (c *campaign) childFlags(s *slot, v version) []string {
	flags := []string{"--config", v.config, "--cache-dir", c.cache, "--frozen", filepath.Join(c.dir, frozenDir)}
	if v.name != "" {
		flags = append(flags, "--name", v.name)
	}
	if c.Env != "" {
		flags = append(flags, "--env", c.Env)
	}
	if c.Idle != 0 {
		flags = append(flags, "--idle", fmt.Sprint(c.Idle.Seconds()))
	}
	switch {
	case s.model != nil:
		flags = append(flags, s.model.Flags()...)
	case c.AIURL != "":
		flags = append(flags, "--ai-url", c.AIURL)
	}
	for _, v := range append(slices.Clone(c.Vars), s.sinkVars()...) {
		flags = append(flags, "--var", v)
	}
	return flags
}

// sinkVars are the variables that name the effect sink.
func (s *slot) sinkVars() []string {
	if s.sink == nil {
		return nil
	}
	return []string{s.camp.SinkVar + ":" + s.sink.URL}
}

// upstreams has what outlives the servers serve r.
func (s *slot) upstreams(r *caseRun) {
	r.sink, r.model = s.sink, s.model
	if s.sink != nil {
		s.sink.Begin(r.history, r.plan.Upstream(true))
	}
	if s.model != nil {
		s.model.Begin(r.history, r.plan.Upstream(false))
	}
}

// unserve ends that.
func (s *slot) unserve() {
	if s.sink != nil {
		s.sink.Begin(nil, nil)
	}
	if s.model != nil {
		s.model.Begin(nil, nil)
	}
}
