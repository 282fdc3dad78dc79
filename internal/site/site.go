package main

import (
	"bytes"
	_ "embed" // the template, the style and the script
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

//go:embed page.html
var pageText string

//go:embed style.css
var style string

//go:embed search.js
var script string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// chapters are the pages in the order of the menu, by their files in the repository.
// Every file of docs/ stands here.
var chapters = []struct {
	title string
	files []string
}{
	{"Start", []string{"README.md", "docs/quickstart.md", "docs/concepts.md"}},
	{"Guides", []string{"docs/guides.md", "docs/troubleshooting.md"}},
	{"Reference", []string{"docs/cli.md", "docs/testing.md", "docs/chaos.md", "docs/control.md", "docs/compatibility.md"}},
	{"How it works", []string{"docs/semantics.md", "docs/systems.md", "docs/rationale.md", "docs/insides.md", "docs/benchmarks.md"}},
	{"Project", []string{"CHANGELOG.md", "SUPPORT.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md"}},
}

// page is one document of the site. Immutable once it is parsed.
type page struct {
	file    string // in the repository
	href    string // in the site
	title   string
	body    template.HTML
	anchors map[string]bool
	links   []link
	parts   []part
}

// link is a relative link of a page; its line is not known after parsing.
type link struct{ target string }

// part is a section as the search finds it.
type part struct {
	Page    string `json:"page"`
	Heading string `json:"heading"`
	Href    string `json:"href"`
	Text    string `json:"text"`
}

// hrefOf is a document's page in the site.
func hrefOf(file string) string {
	if file == "README.md" {
		return "index.html"
	}
	return strings.ToLower(strings.TrimSuffix(path.Base(file), ".md")) + ".html"
}

// Build writes the site and returns how many pages it has.
//
// # Errors
//
// A document that is in no chapter, and every link within the site or the repository
// that leads nowhere, all of them joined.
func Build(root fs.FS, out string) (int, error) {
	pages, err := parseAll(root)
	if err != nil {
		return 0, err
	}
	if err := check(root, pages); err != nil {
		return 0, err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return 0, err
	}
	var parts []part
	for _, p := range pages {
		var b bytes.Buffer
		if err := pageTemplate.Execute(&b, map[string]any{"Title": p.title, "Body": p.body, "Menu": menu(pages, p)}); err != nil {
			return 0, fmt.Errorf("%s: %w", p.file, err)
		}
		if err := os.WriteFile(filepath.Join(out, p.href), b.Bytes(), 0o644); err != nil {
			return 0, err
		}
		parts = append(parts, p.parts...)
	}
	index, err := json.Marshal(parts)
	if err != nil {
		return 0, err
	}
	files := map[string]string{"style.css": style, "search.js": script, "index.js": "window.searchIndex = " + string(index) + ";\n"}
	pictures, err := fs.Glob(root, "docs/*.svg")
	if err != nil {
		return 0, err
	}
	for _, picture := range pictures {
		b, err := fs.ReadFile(root, picture)
		if err != nil {
			return 0, err
		}
		files[path.Base(picture)] = string(b)
	}
	for name, data := range files { // order-independent: each is a file of its own
		if err := os.WriteFile(filepath.Join(out, name), []byte(data), 0o644); err != nil {
			return 0, err
		}
	}
	return len(pages), nil
}

func parseAll(root fs.FS) ([]*page, error) {
	listed := map[string]bool{}
	var pages []*page
	for _, chapter := range chapters {
		for _, file := range chapter.files {
			source, err := fs.ReadFile(root, file)
			if err != nil {
				return nil, err
			}
			p, err := parse(file, source)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			listed[file] = true
			pages = append(pages, p)
		}
	}
	there, err := fs.Glob(root, "docs/*.md")
	if err != nil {
		return nil, err
	}
	for _, file := range there {
		if !listed[file] {
			return nil, fmt.Errorf("%s is in no chapter (internal/site/site.go)", file)
		}
	}
	return pages, nil
}

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(html.WithUnsafe())) // comments mark what tests write

// parse renders a document. Links to other documents become links to their pages.
func parse(file string, source []byte) (*page, error) {
	p := &page{file: file, href: hrefOf(file), title: path.Base(file), anchors: map[string]bool{}}
	doc := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(&headingIDs{seen: p.anchors}))))
	at := part{Href: p.href}
	flush := func() {
		if at.Heading != "" {
			at.Page, at.Text = p.title, strings.Join(strings.Fields(at.Text), " ")
			p.parts = append(p.parts, at)
		}
	}
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			title := content(n, source)
			if n.Level == 1 {
				p.title = title
			}
			flush()
			id, _ := n.AttributeString("id")
			at = part{Heading: title, Href: p.href + "#" + string(id.([]byte))}
		case *ast.Link:
			n.Destination = []byte(p.follow(string(n.Destination)))
		case *ast.Image:
			n.Destination = []byte(p.follow(string(n.Destination)))
		case *ast.Text:
			at.Text += string(n.Segment.Value(source)) + " "
		case *ast.CodeBlock:
			at.Text += string(n.Lines().Value(source)) + " "
		case *ast.FencedCodeBlock:
			at.Text += string(n.Lines().Value(source)) + " "
		}
		return ast.WalkContinue, nil
	})
	flush()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, doc); err != nil {
		return nil, err
	}
	p.body = template.HTML(b.String())
	return p, nil
}

// content is the text of a node without markup.
func content(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		} else {
			b.WriteString(content(c, source))
		}
	}
	return b.String()
}

// follow notes a relative link and returns where it leads in the site.
func (p *page) follow(target string) string {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return target
	}
	p.links = append(p.links, link{target})
	file, fragment, _ := strings.Cut(target, "#")
	if fragment != "" {
		fragment = "#" + fragment
	}
	switch {
	case file == "":
		return fragment
	case strings.HasSuffix(file, ".md") && listedFile(path.Join(path.Dir(p.file), file)):
		return hrefOf(file) + fragment
	case strings.HasSuffix(file, ".svg"):
		return path.Base(file)
	}
	// A file of the repository, which is not in the site: the words stay, as a link within the page.
	return "#"
}

func listedFile(file string) bool {
	for _, chapter := range chapters {
		for _, f := range chapter.files {
			if f == file {
				return true
			}
		}
	}
	return false
}

// check follows every link: to files of the repository, and to headings of pages.
func check(root fs.FS, pages []*page) error {
	byFile := map[string]*page{}
	for _, p := range pages {
		byFile[p.file] = p
	}
	var bad []error
	for _, p := range pages {
		for _, l := range p.links {
			file, fragment, _ := strings.Cut(l.target, "#")
			to := p.file
			if file != "" {
				to = path.Join(path.Dir(p.file), file)
			}
			if _, err := fs.Stat(root, to); err != nil {
				bad = append(bad, fmt.Errorf("%s: a link to %s, which does not exist", p.file, l.target))
				continue
			}
			if target := byFile[to]; fragment != "" && target != nil && !target.anchors[fragment] {
				bad = append(bad, fmt.Errorf("%s: a link to %s, but no heading has that anchor", p.file, l.target))
			}
		}
	}
	return errors.Join(bad...)
}

// entry is a line of the menu; a chapter has no address.
type entry struct {
	Title, Href string
	Here        bool
}

func menu(pages []*page, here *page) []entry {
	var list []entry
	i := 0
	for _, chapter := range chapters {
		list = append(list, entry{Title: chapter.title})
		for range chapter.files {
			list = append(list, entry{pages[i].title, pages[i].href, pages[i] == here})
			i++
		}
	}
	return list
}
