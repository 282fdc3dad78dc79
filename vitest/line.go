package vitest

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"minido.dev/minido/internal/lazyregexp"
)

// refusedOption finds the path of an option in the text of a refusal, such as test.browser.
var refusedOption = lazyregexp.New(`the pool's option ([\w$]+(?:\.[\w$]+)*)|\b([\w$]+(?:\.[\w$]+)+)`)

// inConfig is where a configuration sets the option that a refusal names: file:line, or the
// file alone, if the option does not stand there as a key.
func inConfig(file, refused string) string {
	text, err := os.ReadFile(file)
	found := refusedOption.FindStringSubmatch(refused)
	if err != nil || found == nil {
		return file
	}
	if line := lineOf(string(text), strings.Split(found[1]+found[2], ".")); line > 0 {
		return fmt.Sprintf("%s:%d", file, line)
	}
	return file
}

// lineOf is the line, from 1, in which the last of some nested keys stands in the text of a
// program, 0 if it does not. A key that is missing on the way, since a variable holds what
// is below it, is passed over.
func lineOf(text string, keys []string) int {
	code, at := withoutComments(text), 0
	for i, key := range keys {
		found := regexp.MustCompile(`(?m)(?:^|[\s{,(])(["']?)` + regexp.QuoteMeta(key) + `(["']?)\s*[:(,}]`).FindStringSubmatchIndex(code[at:])
		switch {
		case found == nil && i == len(keys)-1:
			return 0
		case found != nil:
			at += found[3] // where the key begins
		}
	}
	return 1 + strings.Count(code[:at], "\n")
}

// withoutComments is a program's text with spaces for its comments; texts in quotes are
// left alone.
func withoutComments(text string) string {
	out := []byte(text)
	for i := 0; i < len(out); i++ {
		switch rest := text[i:]; {
		case out[i] == '"' || out[i] == '\'' || out[i] == '`':
			for quote := out[i]; i+1 < len(out); {
				if i++; out[i] == quote {
					break
				}
				if out[i] == '\\' {
					i++
				}
			}
		case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "/*"):
			length := strings.Index(rest, "\n")
			if rest[1] == '*' {
				if length = strings.Index(rest, "*/"); length >= 0 {
					length += 2
				}
			}
			if length < 0 {
				length = len(rest)
			}
			for end := i + length; i < end; i++ {
				if out[i] != '\n' {
					out[i] = ' '
				}
			}
			i--
		}
	}
	return string(out)
}
