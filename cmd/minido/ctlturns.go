package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"minido.dev/minido/runtime/control"
	"minido.dev/minido/runtime/feed"
)

// ctlTurns is `minido ctl turns`.
type ctlTurns struct {
	Object objectArg     `arg:"" optional:"" help:"Only turns of this object: CLASS/NAME."`
	Over   time.Duration `placeholder:"DURATION" help:"Only turns that took longer, such as 10ms."`
	Count  int           `short:"n" placeholder:"N" help:"Number of turns. Default: until ^C."`
}

// Run implements kong's command interface.
func (o *ctlTurns) Run(c *ctlCommand) error {
	return c.with(func(ctx context.Context, client *control.Client) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		color, shown, to := useColor(), 0, json.NewEncoder(os.Stdout)
		var failed error
		err := client.Follow(ctx, "turns=true", func(line control.FeedLine) {
			if ctx.Err() != nil || line.Entry != nil && !o.wants(line.Entry) {
				return
			}
			if c.JSON {
				failed = errors.Join(failed, to.Encode(line))
			} else {
				fmt.Println(logLine(line, color))
			}
			if shown++; shown == o.Count || failed != nil {
				stop()
			}
		})
		return errors.Join(failed, ended(ctx, err))
	})
}

func (o *ctlTurns) wants(e *feed.Entry) bool {
	return e.Kind == feed.Turn && (o.Object == "" || e.Object == string(o.Object)) && e.TookUs >= o.Over.Microseconds()
}

// turnText shows a turn: what started it, its times, and what it has asked and held.
func turnText(e *feed.Entry) string {
	us := func(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
	text := fmt.Sprintf("%s  computed %v, took %v", e.Cause, us(e.ComputedUs), us(e.TookUs))
	if n := len(e.Statements) + e.Unlisted; n > 0 {
		text += fmt.Sprintf(", %d storage calls", n)
	}
	if e.Held > 0 {
		text += fmt.Sprintf(", %d outputs held", e.Held)
	}
	return text
}
