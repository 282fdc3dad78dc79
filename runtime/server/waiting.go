package server

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"minido.dev/minido/internal/netx"
)

// await starts something and waits for its answer: blocking, or by driving the
// scheduler. ended, if not nil, is closed when no answer will come any more.
func (o *Options) await(ctx context.Context, what string, ended <-chan struct{}, start func(done func(error))) error {
	answer := make(chan error, 1)
	start(func(err error) {
		select {
		case answer <- err:
		default: // only the first answer counts
		}
	})
	if o.Drive != nil {
		if err := o.Drive(func() bool { return len(answer) > 0 }); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	select {
	case err := <-answer:
		return err
	case <-ended:
		return fmt.Errorf("%s: the isolate has ended", what)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", what, ctx.Err())
	}
}

// patiently tries again while another process holds the directory or the port,
// until patience or ctx ends.
func (o *Options) patiently(ctx context.Context, try func() error) error {
	c := o.machine()
	for deadline := c.Now().Add(patience); ; {
		err := try()
		var locked *LockedError
		if held := errors.As(err, &locked) || netx.HasErrno(err, syscall.EADDRINUSE); !held || !c.Now().Before(deadline) {
			return err
		}
		again := make(chan struct{})
		timer := c.AfterFunc(patienceStep, func() { close(again) })
		select {
		case <-again:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}
