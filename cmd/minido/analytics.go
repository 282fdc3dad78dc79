package main

import (
	"fmt"
	"io"
	"strings"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/binding/analyticsengine"
)

// analyticsCommand is `minido analytics`: what workers wrote with writeDataPoint.
type analyticsCommand struct {
	SQL string `arg:"" name:"sql" help:"A SELECT, in SQLite's SQL: each dataset is a table with timestamp, index1, blob1 to blob20, double1 to double20."`
	stateFlags
}

// Run implements kong's command interface.
func (c *analyticsCommand) Run() error {
	p, err := c.project()
	if err != nil {
		return err
	}
	names, rows, err := analyticsengine.Query(sqlite.Options{Path: analyticsengine.Path(c.dir(p, "analytics_engine")), Now: clock.Real{}.Now, Rand: entropy.System{}}, c.SQL)
	if err != nil {
		return err
	}
	table(func(w io.Writer) {
		fmt.Fprintln(w, strings.Join(names, "\t"))
		for _, row := range rows {
			cells := make([]string, len(row))
			for i, v := range row {
				cells[i] = fmt.Sprint(v)
			}
			fmt.Fprintln(w, strings.Join(cells, "\t"))
		}
	})
	return nil
}
