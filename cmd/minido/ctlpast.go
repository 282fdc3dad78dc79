package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"minido.dev/minido/runtime/control"
)

// moment names a state of an object's past: by its bookmark, or by how many moments it
// lies back.
type moment string

// bookmarks are those of moments of an object.
func (c *ctlCommand) bookmarks(class, object string, moments ...moment) (out []string, err error) {
	err = c.with(func(ctx context.Context, client *control.Client) error {
		for _, m := range moments {
			b, err := m.bookmark(ctx, client, class, object)
			if err != nil {
				return err
			}
			out = append(out, b)
		}
		return nil
	})
	return out, err
}

// bookmark is the moment's bookmark. It asks for the object's moments if it has to.
func (m moment) bookmark(ctx context.Context, client *control.Client, class, object string) (string, error) {
	back, err := strconv.Atoi(string(m))
	if err != nil {
		return string(m), nil // the server knows what a bookmark is
	}
	var out control.Moments
	if err := client.Post(ctx, "/v1/moments", control.PastRequest{Class: class, Object: object}, &out); err != nil {
		return "", err
	}
	if back < 0 || back >= len(out.Moments) {
		return "", fmt.Errorf("%s/%s has %d moments: %d is not one of them; see minido ctl moments %s/%s", class, object, len(out.Moments), back, class, object)
	}
	return out.Moments[len(out.Moments)-1-back].Bookmark, nil
}

type ctlMoments struct {
	Object objectArg `arg:"" help:"CLASS/NAME."`
}

// Run implements kong's command interface.
func (a *ctlMoments) Run(c *ctlCommand) error {
	class, object, err := a.Object.split()
	if err != nil {
		return err
	}
	var out control.Moments
	return c.post("/v1/moments", control.PastRequest{Class: class, Object: object}, &out, func(w io.Writer) {
		fmt.Fprintln(w, "BACK\tTIME\tBOOKMARK")
		for i, m := range out.Moments {
			at := "-" // before its first commit
			if m.AtMs > 0 {
				at = time.UnixMilli(m.AtMs).UTC().Format("2006-01-02T15:04:05.000Z")
			}
			fmt.Fprintf(w, "%d\t%s\t%s\n", len(out.Moments)-1-i, at, m.Bookmark)
		}
	})
}

type ctlDifference struct {
	Object objectArg `arg:"" help:"CLASS/NAME."`
	From   moment    `arg:"" help:"A bookmark, or how many moments back (minido ctl moments)."`
	To     moment    `arg:"" optional:"" default:"0" help:"The same. Default: the present."`
}

// Run implements kong's command interface.
func (a *ctlDifference) Run(c *ctlCommand) error {
	class, object, err := a.Object.split()
	if err != nil {
		return err
	}
	between, err := c.bookmarks(class, object, a.From, a.To)
	if err != nil {
		return err
	}
	var out control.Difference
	return c.post("/v1/difference", control.DifferenceRequest{Class: class, Object: object, From: between[0], To: between[1]}, &out, func(w io.Writer) {
		if len(out.Tables) == 0 {
			fmt.Fprintln(w, "nothing differs")
		}
		for _, t := range out.Tables {
			differs(w, t)
		}
	})
}

// differs writes what changed in a table: rows that came with +, that went with -, and of
// those that changed both.
func differs(w io.Writer, t control.TableDifference) {
	if t.Change != "rows" {
		fmt.Fprintf(w, "%s: %s\n", t.Name, t.Change)
		return
	}
	fmt.Fprintf(w, "%s: %d added, %d removed, %d changed\n  \t%s\n", t.Name, len(t.Added), len(t.Removed), len(t.Changed), strings.Join(t.Columns, "\t"))
	rows := func(mark string, list ...[]any) {
		for _, row := range list {
			fmt.Fprintf(w, "%s \t%s\n", mark, cells(row))
		}
	}
	rows("+", t.Added...)
	rows("-", t.Removed...)
	for _, r := range t.Changed {
		rows("-", r.Before)
		rows("+", r.After)
	}
	if t.Truncated {
		fmt.Fprintln(w, "... more rows differ")
	}
}

// cells are the values of a row, for a table.
func cells(row []any) string {
	texts := make([]string, len(row))
	for i, v := range row {
		texts[i] = cell(v)
	}
	return strings.Join(texts, "\t")
}

type ctlRestore struct {
	Object objectArg `arg:"" help:"CLASS/NAME."`
	To     moment    `arg:"" help:"A bookmark, or how many moments back."`
}

// Run implements kong's command interface.
func (a *ctlRestore) Run(c *ctlCommand) error {
	class, object, err := a.Object.split()
	if err != nil {
		return err
	}
	if a.To == "0" {
		return &exitError{exitUsage, errors.New("0 is the present: name a moment before it")}
	}
	to, err := c.bookmarks(class, object, a.To)
	if err != nil {
		return err
	}
	var out control.Restored
	return c.post("/v1/restore", control.RestoreRequest{Class: class, Object: object, Bookmark: to[0]}, &out, func(w io.Writer) {
		fmt.Fprintf(w, "%s: evicted; it begins with that state at its next event. This undoes it:\n  minido ctl restore %s %s\n", a.Object, a.Object, out.Undo)
	})
}
