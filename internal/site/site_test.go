package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// The documentation becomes a site: every page is there, links lead to pages, and the
// search knows the sections.
func TestBuild(t *testing.T) {
	out := t.TempDir()
	n, err := Build(os.DirFS(filepath.Join("..", "..")), out)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(out, "*.html"))
	if err != nil || len(pages) != n {
		t.Fatalf("%d pages, %d are said, %v", len(pages), n, err)
	}
	index, err := os.ReadFile(filepath.Join(out, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`href="chaos.html"`, `<script src="search.js"`, `aria-current="page"`, `src="demo.svg"`} {
		if !strings.Contains(string(index), want) {
			t.Errorf("no %s in the first page", want)
		}
	}
	b, err := os.ReadFile(filepath.Join(out, "index.js"))
	if err != nil {
		t.Fatal(err)
	}
	var parts []part
	if err := json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimPrefix(string(b), "window.searchIndex = "), ";\n")), &parts); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, p := range parts {
		found = found || p.Href == "control.html#the-verbs" && strings.Contains(p.Text, "Network connection lost.")
	}
	if !found {
		t.Errorf("%d sections, none is the verbs of docs/control.md", len(parts))
	}
}

// A link that leads nowhere, in the repository or to a heading, and a page that is in
// no chapter fail the build, by name.
func TestBuildRefuses(t *testing.T) {
	tree := func(add map[string]string) fstest.MapFS {
		m := fstest.MapFS{}
		for _, c := range chapters {
			for _, file := range c.files {
				m[file] = &fstest.MapFile{Data: []byte("# One heading\n")}
			}
		}
		for name, text := range add { // order-independent: each is a file of its own
			m[name] = &fstest.MapFile{Data: []byte(text)}
		}
		return m
	}
	for name, c := range map[string]struct {
		add  map[string]string
		want string
	}{
		"all is well": {map[string]string{"docs/chaos.md": "# A\n## A\n[x](#a-1) [y](../README.md#one-heading) [z](https://example.org)"}, ""},
		"file":        {map[string]string{"docs/chaos.md": "[x](gone.md)"}, "docs/chaos.md: a link to gone.md"},
		"folder":      {map[string]string{"README.md": "[x](fixtures/gone)"}, "README.md: a link to fixtures/gone"},
		"heading":     {map[string]string{"docs/chaos.md": "[x](control.md#gone)"}, "no heading has that anchor"},
		"chapter":     {map[string]string{"docs/new.md": "# New"}, "docs/new.md is in no chapter"},
	} {
		_, err := Build(tree(c.add), t.TempDir())
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
