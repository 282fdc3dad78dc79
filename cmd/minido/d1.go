package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"minido.dev/minido/internal/clock"
	"minido.dev/minido/internal/entropy"
	"minido.dev/minido/runtime/binding/d1"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/sqlstore"
)

// d1Command is `minido d1`: the D1 databases of a project's state.
type d1Command struct {
	Execute    d1Execute    `cmd:"" help:"Run SQL on a database, in one transaction."`
	Migrations d1Migrations `cmd:"" help:"List and apply the migrations of a database."`
}

type d1Flags struct {
	Database string `arg:"" help:"The database: the name of its binding, or its database_name."`
	stateFlags
}

// with opens the database and runs fn.
func (f *d1Flags) with(fn func(p *config.Project, b config.Binding, d *d1.Database) error) (err error) {
	p, err := f.project()
	if err != nil {
		return err
	}
	b, err := find(p, "d1", f.Database, "database_name")
	if err != nil {
		return err
	}
	d := d1.Open(d1.Options{Dir: f.dir(p, "d1"), ID: d1.ID(b), Clock: clock.Real{}, Entropy: entropy.System{}, Limits: sqlstore.Local, NoBookmarks: true})
	defer closing(&err, d.Close)
	return fn(p, b, d)
}

type d1Execute struct {
	d1Flags
	Command string `placeholder:"SQL" help:"The statements."`
	File    string `placeholder:"FILE" help:"A file of statements."`
	JSON    bool   `name:"json" help:"Print the results as JSON, as wrangler does."`
}

// Run implements kong's command interface.
func (c *d1Execute) Run() error {
	script := c.Command
	switch {
	case (c.Command == "") == (c.File == ""):
		return &exitError{exitUsage, errors.New("give either --command or --file")}
	case c.File != "":
		text, err := os.ReadFile(c.File)
		if err != nil {
			return err
		}
		script = string(text)
	}
	return c.with(func(_ *config.Project, _ config.Binding, d *d1.Database) error {
		results, err := d.Run(d1.Script(script), true)
		if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(results)
		}
		for _, r := range results {
			table(func(w io.Writer) { printRows(w, r) })
		}
		return nil
	})
}

func printJSON(results []d1.Result) error {
	type meta struct {
		Duration float64 `json:"duration"`
	}
	type shown struct {
		Results []map[string]any `json:"results"`
		Success bool             `json:"success"`
		Meta    meta             `json:"meta"`
	}
	all := []shown{}
	for _, r := range results {
		s := shown{Results: []map[string]any{}, Success: true, Meta: meta{r.Meta.DurationMS}}
		for _, row := range r.Rows {
			object := map[string]any{}
			for i, v := range row {
				if data, ok := v.([]byte); ok {
					v = bytesAsList(data)
				}
				object[r.Columns[i]] = v
			}
			s.Results = append(s.Results, object)
		}
		all = append(all, s)
	}
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(all)
}

func bytesAsList(data []byte) []int {
	list := make([]int, len(data))
	for i, b := range data {
		list[i] = int(b)
	}
	return list
}

func printRows(w io.Writer, r d1.Result) {
	if len(r.Rows) == 0 {
		fmt.Fprintf(w, "%d rows changed\n", r.Meta.Changes)
		return
	}
	fmt.Fprintln(w, strings.Join(r.Columns, "\t"))
	for _, row := range r.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			switch x := v.(type) {
			case nil:
				cells[i] = "NULL"
			case []byte:
				cells[i] = fmt.Sprintf("x'%x'", x)
			default:
				cells[i] = fmt.Sprint(x)
			}
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
}

type d1Migrations struct {
	List  d1List  `cmd:"" help:"List the migrations that have not been applied yet."`
	Apply d1Apply `cmd:"" help:"Apply them, each in a transaction of its own, until one fails."`
}

type d1List struct{ d1Flags }

// Run implements kong's command interface.
func (c *d1List) Run() error {
	return c.with(func(p *config.Project, b config.Binding, d *d1.Database) error {
		_, pending, err := pendingOf(p, b, d)
		if err == nil {
			printNames("Migrations to be applied:", pending)
		}
		return err
	})
}

type d1Apply struct{ d1Flags }

// Run implements kong's command interface.
func (c *d1Apply) Run() error {
	return c.with(func(p *config.Project, b config.Binding, d *d1.Database) error {
		m, pending, err := pendingOf(p, b, d)
		if err != nil {
			return err
		}
		for _, name := range pending {
			if err := m.Apply(d, name); err != nil {
				return err
			}
			fmt.Println("applied", name)
		}
		if len(pending) == 0 {
			printNames("", nil)
		}
		return nil
	})
}

func pendingOf(p *config.Project, b config.Binding, d *d1.Database) (d1.Migrations, []string, error) {
	m, err := d1.MigrationsOf(p, b)
	if err != nil {
		return m, nil, err
	}
	pending, err := m.Pending(d)
	return m, pending, err
}

func printNames(title string, names []string) {
	if len(names) == 0 {
		fmt.Println("No migrations to apply!")
		return
	}
	fmt.Println(title)
	for _, name := range names {
		fmt.Println("  " + filepath.ToSlash(name))
	}
}
