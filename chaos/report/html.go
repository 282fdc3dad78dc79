package report

import (
	"fmt"
	"html/template"
	"io"

	"minido.dev/minido/chaos/campaign"
)

var page = template.Must(template.New("report").Parse(`<!doctype html><meta charset="utf-8"><title>minido chaos</title>{{range .Cases}}<p>{{.Name}} {{.Outcome}}{{end}}`))

// WriteHTML writes the report as one file that needs nothing else.
func WriteHTML(w io.Writer, r campaign.Report) error {
	if err := page.Execute(w, r); err != nil {
		return fmt.Errorf("report: html: %w", err)
	}
	return nil
}
