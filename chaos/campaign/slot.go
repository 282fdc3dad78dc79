package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"minido.dev/minido/chaos/process"
)

// prepareLimit bounds the start of a child, until its bundle is evaluated: a
// first one transforms all npm packages.
const prepareLimit = 2 * time.Minute

// slot runs cases one after the other, with a standby of its own. Confined to
// one goroutine.
type slot struct {
	camp    *campaign
	seed    uint64           // of the next case of a simulation; 0 is that of the options
	next    *process.Standby // started, perhaps not prepared; nil without one
	nextLog *logSwitch
	sink    *sink  // nil without one
	model   *model // nil without one
}

// logSwitch is where a child's output goes: into the log of the case it serves,
// once it serves one. Safe for concurrent use.
type logSwitch struct {
	mu  sync.Mutex
	out io.Writer
}

// Write implements io.Writer.
func (l *logSwitch) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

func (l *logSwitch) to(w io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out = w
}

// prepare starts the next child, if there is none.
func (s *slot) prepare() error {
	if s.next != nil {
		return nil
	}
	log := &logSwitch{out: s.camp.Log}
	command := append(append([]string{}, s.camp.Server...), s.camp.childFlags(s)...)
	next, err := process.StartStandby(process.Options{Command: command, Log: log, Scheduler: s.camp.scheduler})
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	s.next, s.nextLog = next, log
	return nil
}

// take returns a child that has its bundle evaluated and waits, and starts the
// one after it.
func (s *slot) take(ctx context.Context, log io.Writer) (*process.Standby, error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	child, childLog := s.next, s.nextLog
	s.next, s.nextLog = nil, nil
	childLog.to(log)
	if err := child.Prepared(ctx, prepareLimit); err != nil {
		return nil, errors.Join(err, child.Close())
	}
	if s.camp.NoStandby {
		return child, nil
	}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, child.Close())
	}
	return child, nil
}

func (s *slot) close() error {
	var err error
	if s.next != nil {
		err = s.next.Close()
		s.next = nil
	}
	if s.sink != nil {
		err = errors.Join(err, s.sink.close())
	}
	if s.model != nil {
		err = errors.Join(err, s.model.server.Close())
	}
	return err
}

// childFlags are the flags of package child's command.
func (c *campaign) childFlags(s *slot) []string {
	flags := []string{"--config", c.config, "--cache-dir", c.cache}
	if c.Env != "" {
		flags = append(flags, "--env", c.Env)
	}
	if c.Idle != 0 {
		flags = append(flags, "--idle", fmt.Sprint(c.Idle.Seconds()))
	}
	switch {
	case s.model != nil:
		flags = append(flags, s.model.flags()...)
	case c.AIURL != "":
		flags = append(flags, "--ai-url", c.AIURL)
	}
	for _, v := range c.Vars {
		flags = append(flags, "--var", v)
	}
	if s.sink != nil {
		flags = append(flags, "--var", c.SinkVar+":"+s.sink.url)
	}
	return flags
}
