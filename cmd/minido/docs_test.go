package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"minido.dev/minido/internal/golden"
)

// docs/cli.md is what --help says, command by command.
func TestReferenceOfTheCommandLine(t *testing.T) {
	parser, err := new(cli).parser(nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{"# The command line", "", "This page is written by `go test ./cmd/minido -update` from the program's own help.", ""}
	var describe func(n *kong.Node, path string)
	describe = func(n *kong.Node, path string) {
		if n.Hidden {
			return
		}
		if n.Parent != nil {
			lines = append(lines, "## "+path, "", inMarkdown(n.Help), "", "    "+usage(n, path), "")
		}
		if n.Detail != "" {
			lines = append(lines, "```text")
			lines = append(lines, strings.Split(strings.TrimRight(n.Detail, "\n"), "\n")...)
			lines = append(lines, "```", "")
		}
		var flags []string
		for _, f := range n.Flags {
			if !f.Hidden {
				flags = append(flags, "- "+flag(f)+": "+inMarkdown(f.Help))
			}
		}
		for _, p := range n.Positional {
			flags = append(flags, "- `"+p.Summary()+"`: "+inMarkdown(p.Help))
		}
		if len(flags) > 0 {
			lines = append(append(lines, flags...), "")
		}
		for _, child := range n.Children {
			describe(child, path+" "+child.Name)
		}
	}
	describe(parser.Model.Node, "minido")
	golden.Lines(t, filepath.Join("..", "..", "docs", "cli.md"), lines[:len(lines)-1])
}

// inMarkdown keeps what Markdown would read as markup.
func inMarkdown(help string) string {
	return strings.NewReplacer("<", "&lt;", "*", "\\*", "_", "\\_").Replace(help)
}

func usage(n *kong.Node, path string) string {
	words := []string{path}
	for _, p := range n.Positional {
		words = append(words, p.Summary())
	}
	if len(n.Children) > 0 {
		words = append(words, "COMMAND")
	}
	return strings.Join(append(words, "[FLAGS]"), " ")
}

func flag(f *kong.Flag) string {
	name := "--" + f.Name
	switch {
	case f.Enum != "":
		name += " " + strings.Join(f.EnumSlice(), "|")
	case !f.IsBool():
		name += " " + f.FormatPlaceHolder()
	}
	if f.Short != 0 {
		name = "-" + string(f.Short) + ", " + name
	}
	return "`" + name + "`"
}

// command is a line of a document that calls minido; in the text, or after a prompt.
var commandLine = regexp.MustCompile(`^\s*(?:\$ )?(?:npx )?minido ([a-z-]+(?: .*)?)$`)

// documented are the calls of minido in the code of a document, by their line numbers.
func documented(text string) map[int]string {
	found := map[int]string{}
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if !fenced && !strings.HasPrefix(line, "    ") {
			continue
		}
		if m := commandLine.FindStringSubmatch(line); m != nil {
			found[i+1] = m[1]
		}
	}
	return found
}

// words splits a line as a shell does: quotes, and comments at its end.
func words(line string) []string {
	var list []string
	for _, m := range regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`).FindAllString(line, -1) {
		if strings.HasPrefix(m, "#") || slices.Contains([]string{"|", "||", "&", "&&", ">"}, m) {
			break
		}
		list = append(list, strings.NewReplacer("'", "", `"`, "").Replace(m))
	}
	return list
}

// Each call of minido in the documentation has a command and flags that exist.
func TestDocumentedCommandsParse(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.md", "docs/*.md", "npm/minido/*.md", "fixtures/*/README.md"} {
		found, err := filepath.Glob(filepath.Join("..", "..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	count := 0
	for _, file := range files {
		if filepath.Base(file) == "cli.md" || filepath.Base(file) == "CHANGELOG.md" {
			continue // usage lines; what once was
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range documented(string(text)) { // order-independent: each is checked by itself
			count++
			if err := parses(words(line)); err != nil {
				t.Errorf("%s:%d: minido %s: %v", file, n, line, err)
			}
		}
	}
	if count < 25 {
		t.Errorf("only %d calls were found in the documentation", count)
	}
	for _, line := range []string{"dev --no-such-flag", "chaos enumerate . --mode fast", "no-such-command"} {
		if parses(words(line)) == nil {
			t.Errorf("minido %s parses", line)
		}
	}
}

// parses reports whether the command line takes the words; help and version are asked for
// by a panic out of the parser, which is no error.
func parses(args []string) (err error) {
	defer func() {
		if x := recover(); x != nil {
			if _, ok := x.(exitPanic); !ok {
				err = fmt.Errorf("%v", x)
			}
		}
	}()
	parser, err := new(cli).parser(nil)
	if err != nil {
		return err
	}
	parser.Stdout, parser.Stderr = io.Discard, io.Discard
	read, _ := asWranglerReadsThem(args)
	_, err = parser.Parse(read)
	return err
}
