package house

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxCell is how many characters a cell of a table in a document may have:
// longer text belongs in a list below the table.
const maxCell = 200

var (
	cellBorder = regexp.MustCompile(`(?:^|[^\\])\|`)
	localLink  = regexp.MustCompile(`\]\(#([^)]+)\)`)
	notAnchor  = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

// documents are the project's own documents in Markdown.
func documents(t *testing.T) map[string]string {
	docs := map[string]string{}
	walkTree(t, func(f textFile) {
		if filepath.Ext(f.path) == ".md" && !strings.HasPrefix(f.path, "fixtures/") {
			docs[f.path] = string(f.data)
		}
	})
	return docs
}

// anchor is the name under which GitHub links a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(notAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// checkDocument returns the cells that are too long and the links to headings
// that the document does not have.
func checkDocument(path, text string) []string {
	var bad []string
	headings := map[string]bool{}
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "#") {
			headings[anchor(strings.TrimSpace(strings.TrimLeft(line, "#")))] = true
		}
	}
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "|") {
			for _, cell := range cellBorder.Split(line, -1) {
				if n := utf8.RuneCountInString(strings.TrimSpace(cell)); n > maxCell {
					bad = append(bad, fmt.Sprintf("%s:%d: a cell of %d characters, %d is the limit: move it into a list below the table: %.60s", path, i+1, n, maxCell, cell))
				}
			}
		}
		for _, link := range localLink.FindAllStringSubmatch(line, -1) {
			if !headings[link[1]] {
				bad = append(bad, fmt.Sprintf("%s:%d: no heading has the anchor #%s", path, i+1, link[1]))
			}
		}
	}
	return bad
}

// Tables in documents can be read at a glance, and links within a document lead
// somewhere.
func TestDocuments(t *testing.T) {
	for path, text := range documents(t) {
		for _, s := range checkDocument(path, text) {
			t.Error(s)
		}
	}
}

// The check finds what it is for, and nothing else.
func TestDocumentsAreChecked(t *testing.T) {
	long := strings.Repeat("é", maxCell+1)
	for _, c := range []struct {
		text string
		want int
	}{
		{"## A `b`, c\n[x](#a-b-c)\n| " + long[2:] + " | y |", 0},
		{"[x](#nowhere)", 1},
		{"| a | " + long + " |", 1},
		{"| a\\|" + long[4:] + " |", 1},
		{long, 0},
	} {
		if got := checkDocument("x.md", c.text); len(got) != c.want {
			t.Errorf("%.40q: %q, want %d", c.text, got, c.want)
		}
	}
}

// pathInCode is a path of the tree within backticks. A segment in capitals, as in
// `runtime/webapi/PART`, stands for a name of the reader's own.
var (
	pathInCode = regexp.MustCompile("`((?:alarms/[a-z_]+\\.go|(?:chaos|cmd|docs|durableobject|e2e|fixtures|internal|runtime|sqlstore)(?:/[A-Za-z0-9_.-]+)+))`")
	nameInCode = regexp.MustCompile("`([^`/]+)`")
	ownName    = regexp.MustCompile(`/[A-Z]+$`)
)

// checkPaths returns the paths in a document that do not exist, and, in tables
// with the column "look for" or "and one line in", names that do not occur in the
// files of their row. read gives a file's text, "" for a folder.
func checkPaths(path, text string, read func(string) (string, bool)) []string {
	var bad []string
	names := -1 // the column of names, in the table at hand
	for i, line := range strings.Split(text, "\n") {
		add := func(format string, args ...any) {
			bad = append(bad, fmt.Sprintf("%s:%d: %s", path, i+1, fmt.Sprintf(format, args...)))
		}
		var files []string
		for _, m := range pathInCode.FindAllStringSubmatch(line, -1) {
			if ownName.MatchString(m[1]) || strings.Contains(m[1], "...") {
				continue
			}
			content, ok := read(m[1])
			if !ok {
				add("%s does not exist", m[1])
			}
			files = append(files, content)
		}
		if !strings.HasPrefix(line, "|") {
			names = -1
			continue
		}
		cells := strings.Split(line, "|")
		for column, cell := range cells {
			if c := strings.TrimSpace(cell); c == "look for" || c == "and one line in" {
				names = column
			}
		}
		if names < 0 || names >= len(cells) || len(files) == 0 {
			continue
		}
		for _, m := range nameInCode.FindAllStringSubmatch(cells[names], -1) {
			if !strings.Contains(strings.Join(files, "\n"), m[1]) && !strings.Contains(m[1], "[n]") && !strings.Contains(m[1], "Enabled(") {
				add("%s is in none of the files of its row", m[1])
			}
		}
	}
	return bad
}

// Every path that a document names exists, and the map of ARCHITECTURE.md finds
// what it promises: its files have the names that it says to look for.
func TestPathsInDocuments(t *testing.T) {
	top := root(t)
	read := func(path string) (string, bool) {
		b, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(path)))
		if err != nil {
			_, err = os.Stat(filepath.Join(top, filepath.FromSlash(path)))
		}
		return string(b), err == nil
	}
	for path, text := range documents(t) {
		if path == "CHANGELOG.md" {
			continue // it tells of what was
		}
		for _, s := range checkPaths(path, text, read) {
			t.Error(s)
		}
	}
	if !strings.Contains(readArchitecture(t), "| look for |") {
		t.Error("ARCHITECTURE.md has no table \"Where is ...?\"")
	}
}

// The check finds a missing path and a missing name, and nothing else.
func TestPathsAreChecked(t *testing.T) {
	read := func(path string) (string, bool) { return "func Known() {}", path == "runtime/a.go" }
	for _, c := range []struct {
		text string
		want int
	}{
		{"`runtime/a.go` `runtime/KIND` `a/b` `alarms/fires` `runtime/...`", 0},
		{"`runtime/b.go`", 1},
		{"`alarms/b.go`", 1},
		{"| x | file | look for |\n| y | `runtime/a.go` | `Known` |", 0},
		{"| x | file | look for |\n| y | `runtime/a.go` | `Unknown` |", 1},
		{"| x | file | other |\n| y | `runtime/a.go` | `Unknown` |", 0},
	} {
		if got := checkPaths("x.md", c.text, read); len(got) != c.want {
			t.Errorf("%q: %q, want %d", c.text, got, c.want)
		}
	}
}
