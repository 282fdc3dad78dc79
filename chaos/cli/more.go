package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"minido.dev/minido/chaos"
	"minido.dev/minido/chaos/report"
	"minido.dev/minido/chaos/result"
	"minido.dev/minido/chaos/starter"
)

// Merge is `minido chaos merge`.
type Merge struct {
	Files    []string `arg:"" help:"report.json of each shard."`
	Reporter []string `placeholder:"KIND[=FILE]" help:"As for enumerate. Default: list."`
	Out      string   `placeholder:"DIR|FILE.json" help:"Directory of report.json and of reports without a file name; or the file of the merged report.json. By default only the reports of --reporter are written."`
}

// Run implements kong's command interface.
func (c *Merge) Run() error { return c.run(os.Stdout) }

func (c *Merge) run(out io.Writer) error {
	var all []result.Report
	for _, file := range c.Files {
		data, err := os.ReadFile(file)
		var r result.Report
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err == nil && r.Verb == "" {
			err = errors.New("it is no report of minido chaos")
		}
		if err != nil {
			return &ExitError{Code: chaos.Usage, Text: fmt.Sprintf("minido: %s: %v", file, err)}
		}
		all = append(all, r)
	}
	merged, err := result.Merge(all)
	if err != nil {
		return &ExitError{Code: chaos.Usage, Text: "minido: " + err.Error()}
	}
	kinds := c.Reporter
	switch {
	case filepath.Ext(c.Out) == ".json":
		if len(kinds) == 0 {
			kinds = []string{"list"}
		}
		kinds = append(slices.Clone(kinds), "json="+c.Out)
	case c.Out != "":
		if err := os.MkdirAll(c.Out, 0o755); err != nil {
			return &ExitError{Code: chaos.Broken, Text: "minido: " + err.Error()}
		}
		merged.Dir = c.Out
	}
	reporters, err := report.Open(kinds, out, Color(out), false)
	if err != nil {
		return &ExitError{Code: chaos.Usage, Text: "minido: --reporter: " + err.Error()}
	}
	for i := range merged.Cases {
		if !merged.Cases[i].Outcome.OK() {
			reporters.Progress(result.Event{Campaign: &merged, Case: &merged.Cases[i]})
		}
	}
	if err := reporters.End(merged); err != nil {
		return &ExitError{Code: chaos.Broken, Text: "minido: " + err.Error()}
	}
	if merged.Code != chaos.Pass {
		return &ExitError{Code: merged.Code}
	}
	return nil
}

// Init is `minido chaos init`.
type Init struct {
	Project string `arg:"" optional:"" default:"." help:"The project's directory, or its wrangler file."`
	Env     string `short:"e" placeholder:"NAME" help:"Environment of the wrangler file."`
}

// Run implements kong's command interface.
func (c *Init) Run() error { return c.run(os.Stdout) }

func (c *Init) run(out io.Writer) error {
	written, err := c.write()
	if err != nil {
		code := chaos.Broken
		if chaos.IsUsage(err) {
			code = chaos.Usage
		}
		return &ExitError{Code: code, Text: "minido: " + err.Error()}
	}
	_, err = fmt.Fprintf(out, "wrote %s\n\nLook at what drive() does, and run it:\n\n  minido chaos enumerate %s\n", strings.Join(written, " and "), chaos.Quote(c.Project))
	if err != nil {
		return &ExitError{Code: chaos.Broken, Text: "minido: " + err.Error()}
	}
	return nil
}

// write makes the first scenario and the types beside it; what is there stays.
func (c *Init) write() ([]string, error) {
	project, err := chaos.LoadProject(c.Project, c.Env, nil)
	if err != nil {
		return nil, err
	}
	return starter.Scenario(project)
}
