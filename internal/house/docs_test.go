package house

import (
	"fmt"
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
