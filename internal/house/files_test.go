package house

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxLines is past what a reader can live in; STYLE asks for a split by
// meaning well before.
const maxLines = 900

var (
	unfinished = regexp.MustCompile(`TODO|FIXME|XXX|[Nn]ot implemented|[Uu]nimplemented`)
	localPath  = regexp.MustCompile(`(^|[^A-Za-z0-9_.])/(work|farm|root|home)/[a-z]`)
	registry   = regexp.MustCompile(`registry\.(npmjs|yarnpkg)\.|proxy\.golang\.org|sum\.golang\.org|deb\.debian\.org`)
	resolved   = regexp.MustCompile(`"resolved": *"http`)
)

// textFile is a file of the tree, by its slash-separated path from the top.
type textFile struct {
	path string
	data []byte
}

func (f textFile) isCode() bool {
	switch filepath.Ext(f.path) {
	case ".go", ".js", ".mjs", ".ts", ".tsx":
		return !strings.HasSuffix(f.path, "_test.go")
	}
	return false
}

// isDerived names what the toolchain writes: hosts in it are not ours to choose.
func (f textFile) isDerived() bool { return f.path == "go.sum" }

// checkFile returns what one file violates.
func checkFile(f textFile) []string {
	var bad []string
	add := func(line int, format string, args ...any) {
		bad = append(bad, fmt.Sprintf("%s:%d: %s", f.path, line, fmt.Sprintf(format, args...)))
	}
	lines := strings.Split(strings.TrimSuffix(string(f.data), "\n"), "\n")
	if f.isCode() && len(lines) > maxLines {
		add(len(lines), "%d lines: split by meaning", len(lines))
	}
	for i, line := range lines {
		if f.isCode() && unfinished.MatchString(line) && !strings.Contains(line, "reference's text") {
			add(i+1, "unfinished work: finish it, or return an error that names the gap: %s", strings.TrimSpace(line))
		}
		if localPath.MatchString(line) && !strings.HasPrefix(line, "#!") {
			add(i+1, "a path of one machine: %s", strings.TrimSpace(line))
		}
		if resolved.MatchString(line) {
			add(i+1, "a download address in a lockfile: set omit-lockfile-registry-resolved=true in .npmrc")
		} else if !f.isDerived() && registry.MatchString(line) {
			add(i+1, "a package registry's address: %s", strings.TrimSpace(line))
		}
	}
	return bad
}

// skipped are folders whose content is not the project's own text.
var skipped = map[string]bool{".git": true, "node_modules": true, ".wrangler": true, "testdata": true, "minido-out": true, "bin": true}

// walkTree calls f for every text file of the repository.
func walkTree(t *testing.T, f func(textFile)) {
	t.Helper()
	top := root(t)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(path, top), string(filepath.Separator)))
		if d.IsDir() {
			if skipped[d.Name()] && rel != "" {
				return filepath.SkipDir
			}
			return nil
		}
		// .git is a file in a linked worktree. The rules' own patterns stand in internal/house.
		if !d.Type().IsRegular() || rel == ".git" || strings.HasPrefix(rel, "internal/house/") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.IndexByte(data[:min(len(data), 8000)], 0) < 0 {
			f(textFile{rel, data})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// No file of the tree is too long, unfinished, or tied to one machine.
func TestFiles(t *testing.T) {
	count := 0
	walkTree(t, func(f textFile) {
		count++
		for _, bad := range checkFile(f) {
			t.Error(bad)
		}
	})
	if count < 10 {
		t.Errorf("looked at %d files only", count)
	}
}

// checkFile finds each planted fault, and nothing in clean files. What is
// planted is put together here: no file of the tree has it as one text.
func TestFilesFindsViolations(t *testing.T) {
	long := strings.Repeat("x\n", maxLines+1)
	mark, gap := "// TO"+"DO", "not "+"implemented"
	address := "https://registry." + "npmjs.org/"
	for _, c := range []struct {
		path, text string
		want       int
	}{
		{"a/b.go", "package a\n", 0},
		{"a/b.go", long, 1},
		{"a/b.md", long, 0},
		{"a/b_test.go", long + mark + "\n", 0},
		{"a/b.ts", mark + ": later\n", 1},
		{"a/b.js", "throw new Error('" + gap + "')\n", 1},
		{"a/b.go", "\"is " + gap + " in workerd.\" // reference's text\n", 0},
		{"README.md", "cd " + "/wo" + "rk/main\n", 1},
		{"README.md", "a framework/work/x and /workers/a\n", 0},
		{"f/package-lock.json", `"resol` + `ved": "` + address + `a"` + "\n", 1},
		{"docs/a.md", "npm config set registry " + address + "\n", 1},
		{"go.sum", "proxy." + "golang.org\n", 0},
	} {
		if got := checkFile(textFile{c.path, []byte(c.text)}); len(got) != c.want {
			t.Errorf("%s %.40q: found %q, want %d", c.path, c.text, got, c.want)
		}
	}
}
