package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// columns of the table. The targets are those of bench.targets, in that order.
var columns = []string{"", "unit", "minido", "goal", "bare Go", "ratio", "workerd", "ratio", "wrangler dev", "ratio", "minido's runs"}

const legend = `A ratio says how many times as good as the other minido is: above 1 minido is ahead, below 1 behind.
Start-up and recovery are medians. workerd has no bundler: it always gets the prebuilt bundle, and of
cloudflare:email, which wrangler adds to it, a stand-in.
Memory is resident memory; for wrangler dev that of its processes together.`

func writeTable(w io.Writer, before, after string, results []result) error {
	table := [][]string{columns}
	for _, r := range results {
		line := []string{r.name, r.unit, r.cells[0].text(), r.goal}
		for _, c := range r.cells[1:] {
			line = append(line, c.text(), r.better.ratio(r.cells[0], c))
		}
		table = append(table, append(line, r.cells[0].Note))
	}
	widths := make([]int, len(columns))
	for _, line := range table {
		for i, text := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	var sb strings.Builder
	fmt.Fprintf(&sb, "%s\n\n", before)
	for _, line := range table {
		var row strings.Builder
		for i, text := range line {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
			if i < 2 || i == len(line)-1 {
				row.WriteString(text + pad + "  ")
			} else {
				row.WriteString(pad + text + "  ")
			}
		}
		sb.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	fmt.Fprintf(&sb, "\n%s\n", legend)
	for _, r := range results {
		for i, c := range r.cells[1:] {
			if c.Note != "" {
				fmt.Fprintf(&sb, "  %s, %s: %s\n", r.name, targetNames[i+1], c.Note)
			}
		}
	}
	fmt.Fprintf(&sb, "At the end: %s\n", after)
	_, err := io.WriteString(w, sb.String())
	return err
}

// targetNames are those of bench.targets.
var targetNames = []string{"minido", "bare Go", "workerd", "wrangler dev"}

func (c cell) text() string {
	switch {
	case c.Error != "":
		return c.Error
	case c == cell{}:
		return "–"
	case c.Value > -10 && c.Value < 10:
		return strconv.FormatFloat(c.Value, 'f', 1, 64)
	}
	return thousands(int64(c.Value + 0.5))
}

func thousands(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func (d direction) ratio(ours, other cell) string {
	if ours.Error != "" || other.Error != "" || ours.Value <= 0 || other.Value <= 0 {
		return ""
	}
	r := other.Value / ours.Value
	if d == higher {
		r = 1 / r
	}
	return strconv.FormatFloat(r, 'g', 2, 64)
}
