package node

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/dop251/goja"
)

// refusedText is the table of what stands in a module and throws; its first
// lines say how it is written.
//
//go:embed refused.txt
var refusedText string

// Refusal is a line of the table. Immutable.
type Refusal struct {
	Module string
	Text   string // the reference's, with * for the name; empty where the reference has the API
	Advice string
	Names  []string
}

// refusals are the lines of the table, and the line of each API,
// which is named module.name. Immutable; read when it is first asked for.
var refusals = sync.OnceValues(func() (lines []*Refusal, byAPI map[string]*Refusal) {
	byAPI = map[string]*Refusal{}
	for line := range strings.Lines(refusedText) {
		part := strings.Split(strings.TrimSpace(line), " | ")
		if len(part) != 4 {
			continue // a comment
		}
		r := &Refusal{Module: part[0], Text: strings.TrimPrefix(part[1], "-"), Advice: part[2], Names: apiNames(part[3])}
		lines = append(lines, r)
		for _, name := range r.Names {
			byAPI[r.Module+"."+name] = r
		}
	}
	return lines, byAPI
})

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

// Refusals are the lines of the table, in order.
func Refusals() []*Refusal {
	lines, _ := refusals()
	return lines
}

// RefusalOf is the line of an API, named module.name; nil if it is not in the table.
func RefusalOf(api string) *Refusal {
	_, byAPI := refusals()
	return byAPI[api]
}

// SameAs is the module that another one is, as far as refusals go; empty if none.
func SameAs(module string) string { return sameAs[module] }

// sameAs are modules that are another one, as far as refusals go.
var sameAs = map[string]string{"assert/strict": "assert", "dns/promises": "dns", "fs/promises": "fs", "inspector/promises": "inspector", "sys": "util"}

// Refused is the error of an API, named module.name, that stands in the table.
// Its code and first words are those of Workers, if they refuse it too.
func (m *Modules) Refused(api string) *goja.Object {
	module, name, _ := strings.Cut(api, ".")
	if same, ok := sameAs[module]; ok {
		module = same
	}
	r := RefusalOf(module + "." + name)
	if r == nil { // what a newer date has: a test holds the table against all that is missing there
		r = &Refusal{Advice: "it is there with a newer compatibility_date"}
	}
	text, code := "minido lacks "+module+"."+name, "ERR_METHOD_NOT_IMPLEMENTED"
	if r.Text != "" {
		text = strings.ReplaceAll(r.Text, "*", name)
	}
	if strings.HasSuffix(text, "implementation in use") {
		return m.NewError("TypeError", "ERR_WEB_STREAM_INTEROP_UNSUPPORTED", text+": "+r.Advice)
	}
	if strings.HasSuffix(text, "unsupported") {
		code = "ERR_UNSUPPORTED_OPERATION"
	} else if r.Text != "" && !strings.HasPrefix(text, "The ") {
		code = ""
	}
	return m.NewError("Error", code, text+": "+r.Advice)
}
