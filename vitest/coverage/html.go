package coverage

import (
	"fmt"
	"os"
	"path"
	"strings"
)

// page is a file of the report html.
type page struct{ name, text string }

const htmlHead = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>%s</title>
<style>
body { font: 14px/1.5 system-ui, sans-serif; margin: 2em; color: #222; background: #fff }
table { border-collapse: collapse }
th, td { padding: .2em .8em; text-align: right; border-bottom: 1px solid #ddd }
th:first-child, td:first-child { text-align: left }
.low { background: #fce1e5 } .medium { background: #fff4c2 } .high { background: #e6f5d0 }
pre { margin: 0; font: 13px/1.45 ui-monospace, monospace; tab-size: 2 }
pre i { display: inline-block; width: 4em; padding-right: 1em; text-align: right; color: #888; font-style: normal; user-select: none }
.no { background: #fce1e5 } .part { background: #fff4c2 }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #181818 } th, td { border-color: #444 }
  .low, .no { background: #5a1e28 } .medium, .part { background: #574a10 } .high { background: #2c4a12 }
  a { color: #8cf }
}
</style>
</head>
<body>
`

// html is the report html: a table of all files, and a page of each with its lines, how
// often they ran, and marks where they did not or where a path of a branch was not taken.
func (w *writing) html() ([]page, error) {
	var sb strings.Builder
	fmt.Fprintf(&sb, htmlHead, "Coverage")
	sb.WriteString("<h1>Coverage</h1>\n<table>\n<tr><th>File</th><th>Statements</th><th></th><th>Branches</th><th></th><th>Functions</th><th></th><th>Lines</th><th></th></tr>\n")
	var pages []page
	var failed error
	w.visitPaths(func(n *node, at string) {
		name := escape(label(n))
		if n.file != nil {
			file := at + ".html"
			name = fmt.Sprintf(`<a href="%s">%s</a>`, escape(file), escape(at))
			text, err := w.source(n, at)
			if err != nil && failed == nil {
				failed = err
			}
			pages = append(pages, page{file, text})
		}
		fmt.Fprintf(&sb, "<tr><td>%s</td>%s</tr>\n", name, w.cells(n.summary))
	})
	sb.WriteString("</table>\n</body>\n</html>\n")
	return append(pages, page{"index.html", sb.String()}), failed
}

// visitPaths calls fn with each node and its path below the report's directory.
func (w *writing) visitPaths(fn func(n *node, at string)) {
	var walk func(n *node, dir string)
	walk = func(n *node, dir string) {
		at := path.Join(dir, n.name)
		fn(n, at)
		for _, c := range n.children {
			walk(c, at)
		}
	}
	walk(w.tree, "")
}

// cells are the columns of a row.
func (w *writing) cells(s summary) string {
	text := ""
	for _, kind := range []string{"statements", "branches", "functions", "lines"} {
		class := ""
		if !s.empty() {
			class = w.class(kind, s.percent(kind))
		}
		text += fmt.Sprintf(`<td class="%s">%s%%</td><td>%d/%d</td>`, class, number(s.percent(kind)), s[kind].covered, s[kind].total)
	}
	return text
}

// source is the page of a file.
func (w *writing) source(n *node, at string) (string, error) {
	text, err := os.ReadFile(n.file.Path)
	if err != nil {
		return "", fmt.Errorf("coverage: %w", err)
	}
	counts, not := map[int]uint64{}, partial(n.file)
	for _, l := range linesOf(n.file) {
		counts[l.number] = l.count
	}
	var sb strings.Builder
	fmt.Fprintf(&sb, htmlHead, escape(at))
	up := strings.Repeat("../", strings.Count(at, "/"))
	fmt.Fprintf(&sb, "<p><a href=\"%sindex.html\">All files</a></p>\n<h1>%s</h1>\n<table>\n<tr>%s</tr>\n</table>\n<pre>\n", up, escape(at), w.cells(n.summary))
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		count, counted := counts[i+1]
		times, class := "", ""
		if counted {
			times = fmt.Sprintf("%d×", count)
		}
		switch {
		case counted && count == 0:
			class = "no"
		case not[i+1]:
			class = "part"
		}
		fmt.Fprintf(&sb, "<span class=\"%s\"><i>%d</i><i>%s</i>%s</span>\n", class, i+1, times, escape(strings.TrimSuffix(line, "\r")))
	}
	sb.WriteString("</pre>\n</body>\n</html>\n")
	return sb.String(), nil
}
