package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

// searching runs the script of the search over three sections, as a page does.
const searching = `
const elements = { search: listener(), results: listener(), theme: listener() };
function listener() { return { addEventListener(_, f) { this.f = f; }, replaceChildren(...items) { this.items = items; } }; }
globalThis.document = {
  getElementById: (id) => elements[id],
  createElement: () => ({ append(...parts) { this.parts = parts; } }),
};
globalThis.window = { searchIndex: [
  { page: "P", heading: "Other", href: "p.html#other", text: "an alarm is delivered again" },
  { page: "P", heading: "Alarm and gate", href: "p.html#alarm", text: "again and again" },
  { page: "P", heading: "None", href: "p.html#none", text: "nothing" },
] };
require(process.argv[1]);
for (const query of ["alarm AGAIN", "no such words"]) {
  elements.search.value = query;
  elements.search.f();
  console.log(elements.results.items.map((item) => item.parts[0].href ?? item.parts[0].textContent).join(" "));
}
`

// The search finds the sections that have all the words, headings first.
func TestSearch(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node")
	}
	out, err := exec.Command(node, "-e", searching, "./search.js").CombinedOutput()
	if want := "p.html#alarm p.html#other\nNothing has these words.\n"; err != nil || string(out) != want {
		t.Errorf("%v, %q, want %q", err, out, want)
	}
}

var version = regexp.MustCompile(`\d+\.\d+\.\d+(?:\.\d+)?`)

// SUPPORT.md names the versions that the fixtures and the reference are pinned to, and
// no others.
func TestSupportedVersions(t *testing.T) {
	root := os.DirFS(filepath.Join("..", ".."))
	pinned := map[string][]string{}
	files, err := fs.Glob(root, "fixtures/*/package.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "e2e/reference/package.json") {
		b, err := fs.ReadFile(root, file)
		if err != nil {
			t.Fatal(err)
		}
		var manifest struct{ Dependencies map[string]string }
		if err := json.Unmarshal(b, &manifest); err != nil {
			t.Fatal(err)
		}
		for name, v := range manifest.Dependencies { // order-independent: sorted below
			pinned[name] = append(pinned[name], v)
		}
	}
	text, err := fs.ReadFile(root, "SUPPORT.md")
	if err != nil {
		t.Fatal(err)
	}
	for row, name := range map[string]string{"| npm `agents` |": "agents", "| npm `@cloudflare/ai-chat` |": "@cloudflare/ai-chat", "| wrangler |": "wrangler", "| workerd |": "workerd"} {
		_, rest, found := strings.Cut(string(text), row)
		cell, _, _ := strings.Cut(rest, "|")
		said, want := version.FindAllString(cell, -1), pinned[name]
		slices.Sort(said)
		slices.Sort(want)
		if want = slices.Compact(want); !found || len(want) == 0 || !slices.Equal(said, want) {
			t.Errorf("SUPPORT.md says %q of %s, pinned are %q", said, name, want)
		}
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
