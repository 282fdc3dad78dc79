package chaos

import (
	"context"
	"fmt"

	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/wait"
)

// atCheckpoint leads a child from commit to commit, and leaves it standing behind
// the one by which a fiber has stored so many checkpoints: then it sends nil. The
// files are looked at while nothing can change them, so that no checkpoint is
// missed however slow the machine is.
func (r *run) atCheckpoint(ctx context.Context, child *process.Child, checkpoints int) <-chan error {
	there := make(chan error, 1)
	w := newWatcher(r.clock, r.watcher.dir, r.watcher.id, func(colour, string, string, ...any) {})
	r.scheduler.Go("checkpoints", func() { there <- w.lead(ctx, child, checkpoints) })
	return there
}

func (w *watcher) lead(ctx context.Context, child *process.Child, checkpoints int) error {
	if err := w.look(); err != nil {
		return err
	}
	w.reset() // what an earlier life has stored does not count
	for done := 0; ; {
		steps, err := child.Steps()
		if err != nil {
			return fmt.Errorf("checkpoints: %w", err)
		}
		if steps == done {
			if _, over := child.Exit(); over {
				return child.ExitError()
			}
			if err := wait.Pause(ctx, w.clock, wait.Step); err != nil {
				return fmt.Errorf("checkpoints: %w", err)
			}
			continue
		}
		if err := w.look(); err != nil {
			return err
		}
		if w.mostCheckpoints() >= checkpoints {
			return nil
		}
		done++
		child.StepOn()
	}
}
