package nodeapi

import (
	_ "embed"
	"strings"

	"github.com/dop251/goja"
)

// refusedText is the table of what stands in a module and throws; its first
// lines say how it is written.
//
//go:embed refused.txt
var refusedText string

// refusal is a line of the table. Immutable.
type refusal struct {
	module string
	text   string // the reference's, with * for the name; empty where the reference has the API
	advice string
	names  []string
}

// refusals are the lines of the table, and refusalOf the line of each API,
// which is named module.name. Immutable.
var refusals, refusalOf = func() (lines []*refusal, byAPI map[string]*refusal) {
	byAPI = map[string]*refusal{}
	for line := range strings.Lines(refusedText) {
		part := strings.Split(strings.TrimSpace(line), " | ")
		if len(part) != 4 {
			continue // a comment
		}
		r := &refusal{module: part[0], text: strings.TrimPrefix(part[1], "-"), advice: part[2], names: apiNames(part[3])}
		lines = append(lines, r)
		for _, name := range r.names {
			byAPI[r.module+"."+name] = r
		}
	}
	return lines, byAPI
}()

// apiNames splits at spaces that are not in parentheses.
func apiNames(list string) (names []string) {
	depth := 0
	return strings.FieldsFunc(list, func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		return c == ' ' && depth == 0
	})
}

// sameAs are modules that are another one, as far as refusals go.
var sameAs = map[string]string{"assert/strict": "assert", "dns/promises": "dns", "fs/promises": "fs", "inspector/promises": "inspector", "sys": "util"}

// refused is the error of an API, named module.name, that stands in the table.
// Its code and first words are those of Workers, if they refuse it too.
func (m *Modules) refused(api string) *goja.Object {
	module, name, _ := strings.Cut(api, ".")
	if same, ok := sameAs[module]; ok {
		module = same
	}
	r := refusalOf[module+"."+name]
	if r == nil {
		panic("nodeapi: " + api + " is not in refused.txt")
	}
	text, code := "minido lacks "+module+"."+name, "ERR_METHOD_NOT_IMPLEMENTED"
	if r.text != "" {
		text = strings.ReplaceAll(r.text, "*", name)
	}
	if strings.HasSuffix(text, "implementation in use") {
		return m.newError("TypeError", "ERR_WEB_STREAM_INTEROP_UNSUPPORTED", text+": "+r.advice)
	}
	if strings.HasSuffix(text, "unsupported") {
		code = "ERR_UNSUPPORTED_OPERATION"
	} else if r.text != "" && !strings.HasPrefix(text, "The ") {
		code = ""
	}
	return m.newError("Error", code, text+": "+r.advice)
}
