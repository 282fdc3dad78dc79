package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/runtime/control"
	"minido.dev/minido/runtime/feed"
)

// ctlLogs is `minido ctl logs`.
type ctlLogs struct {
	Object objectArg `arg:"" optional:"" help:"Only entries of this object: CLASS/NAME."`
	Follow bool      `short:"f" help:"Continue until ^C."`
	Points bool      `help:"With -f: effect points, too."`
}

// Run implements kong's command interface.
func (l *ctlLogs) Run(c *ctlCommand) error {
	if l.Points && !l.Follow {
		return &exitError{exitUsage, errors.New("--points goes with -f: points are reported while somebody watches")}
	}
	return c.with(func(ctx context.Context, client *control.Client) error {
		query := fmt.Sprintf("follow=%v&points=%v", l.Follow, l.Points)
		if c.JSON {
			return ended(ctx, client.Get(ctx, "/v1/feed?"+query, os.Stdout))
		}
		color := useColor()
		return ended(ctx, client.Follow(ctx, query, func(line control.FeedLine) {
			if l.Object == "" || line.Entry != nil && line.Object == string(l.Object) {
				fmt.Println(logLine(line, color))
			}
		}))
	})
}

// ended says that ^C is how following ends.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// logLine shows a line of the feed to a person.
func logLine(line control.FeedLine, color bool) string {
	t := terminal{color: color}
	if line.Entry == nil {
		return t.paint("33", fmt.Sprintf("(%d entries came too fast to be shown)", line.Lost))
	}
	e := line.Entry
	text, code := e.Text, ""
	switch {
	case e.Kind == feed.Request:
		text = fmt.Sprintf("%s %s %d (%s)", e.Method, e.Path, e.Status, round(time.Duration(e.TookUs)*time.Microsecond))
		code = statusColor(e.Status)
	case e.Kind == feed.Point:
		text, code = e.Effect+":"+e.Side+"/"+e.Cause, "2"
	case e.Kind == feed.Turn:
		text = turnText(e)
	case e.Level == "error":
		code = "31"
	case e.Level == "warn":
		code = "33"
	}
	if code != "" {
		text = t.paint(code, text)
	}
	where := ""
	if e.Object != "" {
		where = t.paint("36", e.Object) + "  "
	}
	return t.paint("2", time.UnixMilli(e.AtMs).Format("15:04:05.000")) + "  " + where + text
}

// ctlTop is `minido ctl top`.
type ctlTop struct {
	Count int `short:"n" placeholder:"N" help:"Number of updates. Default: until ^C."`
	Rows  int `default:"30" placeholder:"N" help:"Maximum number of objects."`
}

// Run implements kong's command interface.
func (o *ctlTop) Run(c *ctlCommand) error {
	if c.JSON {
		return &exitError{exitUsage, errors.New("top is for people; `minido ctl list --json` is what it shows")}
	}
	return c.with(func(ctx context.Context, client *control.Client) error {
		for n := 1; ; n++ {
			var out struct{ Objects []control.Object }
			var status control.Status
			if err := errors.Join(client.Get(ctx, "/v1/objects", &out), client.Get(ctx, "/v1/status", &status)); err != nil {
				return ended(ctx, err)
			}
			screen := useColor()
			if screen {
				fmt.Print("\x1b[H\x1b[2J\x1b[?7l") // from the top of an empty screen; lines are cut at its right edge
			}
			o.show(status, out.Objects)
			if screen {
				fmt.Print("\x1b[?7h")
			}
			if n == o.Count || !pause(ctx, time.Second) {
				return nil
			}
		}
	})
}

func (o *ctlTop) show(status control.Status, objects []control.Object) {
	live := slices.DeleteFunc(objects, func(o control.Object) bool { return o.Live == nil && o.State != "hibernated" })
	slices.SortStableFunc(live, func(a, b control.Object) int {
		return strings.Compare(rank(a)+a.Class+a.Name, rank(b)+b.Class+b.Name)
	})
	fmt.Printf("%s  %s  pid %d  heap %d MB  %d objects in memory\n\n", status.Worker, status.WorkerURL, status.PID, status.HeapBytes>>20, status.Objects)
	table(func(w io.Writer) { listObjects(w, live[:min(len(live), o.Rows)]) })
	if more := len(live) - o.Rows; more > 0 {
		fmt.Printf("and %d more\n", more)
	}
}

// rank sorts objects by how busy they are.
func rank(o control.Object) string {
	return map[string]string{"running": "0", "idle": "1"}[o.State] + "2"
}

// pause waits, and reports false if ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	due := make(chan struct{})
	defer clock.Real{}.AfterFunc(d, func() { close(due) }).Stop()
	select {
	case <-due:
		return true
	case <-ctx.Done():
		return false
	}
}
