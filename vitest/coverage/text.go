package coverage

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Widths of istanbul's table.
const (
	nameColumn    = 4
	percentColumn = 7
	missingColumn = 17
	delimiter     = " | "
)

// fill is text in a column of a width; of one that is too long, the end is left.
func fill(text string, width int, right bool, indent int) string {
	remaining := width - indent
	lead := strings.Repeat(" ", indent)
	if remaining <= 0 {
		return lead
	}
	length := utf8.RuneCountInString(text)
	if length > remaining {
		keep := max(remaining-len("..."), 0)
		return lead + "..." + string([]rune(text)[length-keep:])
	}
	space := strings.Repeat(" ", remaining-length)
	if right {
		return lead + space + text
	}
	return lead + text + space
}

// table is the report text.
type table struct {
	w                       *writing
	nameWidth, missingWidth int
}

func (w *writing) text() (string, error) {
	t := &table{w: w, nameWidth: nameColumn, missingWidth: missingColumn}
	w.tree.visit(func(n *node, depth int) {
		t.nameWidth = max(t.nameWidth, depth+utf8.RuneCountInString(label(n)))
		if n.file != nil {
			t.missingWidth = max(t.missingWidth, len(uncovered(n.file)))
		}
	})
	columns := w.columns
	if w.options.MaxCols != nil {
		columns = *w.options.MaxCols
	}
	if columns > 0 {
		percents := len(delimiter) + 4*(percentColumn+len(delimiter)) + 2
		if most := columns - (percents + missingColumn); t.nameWidth > most {
			t.nameWidth, t.missingWidth = most, missingColumn
		} else if t.nameWidth < most {
			t.missingWidth = min(t.missingWidth, columns-(t.nameWidth+percents))
		}
	}
	rule := t.rule()
	text := rule + t.head() + rule
	w.tree.visit(func(n *node, depth int) { text += t.row(n, depth) })
	return text + rule, nil
}

func label(n *node) string {
	if n.name == "" {
		return "All files"
	}
	return n.name
}

func (t *table) line(columns []string, between string) string {
	return strings.Join(columns, between)
}

func (t *table) rule() string {
	dashes := func(n int) string { return strings.Repeat("-", max(n, 0)) }
	columns := []string{dashes(t.nameWidth), dashes(percentColumn), dashes(percentColumn + 1), dashes(percentColumn), dashes(percentColumn), dashes(t.missingWidth)}
	return t.line(columns, strings.ReplaceAll(delimiter, " ", "-")) + "-\n"
}

func (t *table) head() string {
	columns := []string{fill("File", t.nameWidth, false, 0), fill("% Stmts", percentColumn, true, 0), fill("% Branch", percentColumn+1, true, 0),
		fill("% Funcs", percentColumn, true, 0), fill("% Lines", percentColumn, true, 0), fill("Uncovered Line #s", t.missingWidth, false, 0)}
	return t.line(columns, delimiter) + " \n"
}

func (t *table) row(n *node, depth int) string {
	s, o := n.summary, t.w.options
	if o.SkipEmpty && s.empty() || (o.SkipFull || t.w.result.Options.SkipFull) && s.full() {
		return ""
	}
	percent := func(kind string, width int) string {
		return t.w.colour(kind, s, fill(number(s.percent(kind)), width, true, 0))
	}
	missing, class := "", "low"
	if n.file != nil {
		missing = uncovered(n.file)
	}
	if s.percent("lines") == 100 {
		class = "medium"
	}
	columns := []string{t.w.colour("statements", s, fill(label(n), t.nameWidth, false, depth)), percent("statements", percentColumn), percent("branches", percentColumn+1),
		percent("functions", percentColumn), percent("lines", percentColumn), t.w.painted(class, fill(missing, t.missingWidth, false, 0))}
	return t.line(columns, delimiter) + " \n"
}

// class is istanbul's for a percentage.
func (w *writing) class(kind string, percent float64) string {
	marks := w.result.Options.Watermarks[kind]
	switch {
	case percent < marks[0]:
		return "low"
	case percent >= marks[1]:
		return "high"
	}
	return "medium"
}

func (w *writing) colour(kind string, s summary, text string) string {
	if s.empty() {
		return text
	}
	return w.painted(w.class(kind, s.percent(kind)), text)
}

func (w *writing) painted(class, text string) string {
	if !w.color {
		return text
	}
	return fmt.Sprintf("\x1b[%sm%s\x1b[0m", map[string]string{"low": "31;1", "medium": "33;1", "high": "32;1"}[class], text)
}

// textSummary is the report text-summary.
func (w *writing) textSummary() (string, error) {
	const wide = 80
	title := " Coverage summary "
	side := strings.Repeat("=", (wide-len(title))/2)
	text := "\n" + side + title + side + "\n"
	for _, kind := range []string{"statements", "branches", "functions", "lines"} {
		m := w.tree.summary[kind]
		line := fmt.Sprintf("%-12s : %s%% ( %d/%d )", strings.ToUpper(kind[:1])+kind[1:], m.text(), m.covered, m.total)
		text += w.painted(w.class(kind, m.percent()), line) + "\n"
	}
	return text + strings.Repeat("=", wide) + "\n", nil
}
