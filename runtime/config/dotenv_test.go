package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func values(entries []dotenvEntry) map[string]string {
	out := map[string]string{}
	for _, e := range entries {
		out[e.key] = e.value
	}
	return out
}

// TestParseDotenv goes through the forms of the format.
func TestParseDotenv(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want map[string]string
	}{
		"plain":             {"A=1\nB = two words  \n", map[string]string{"A": "1", "B": "two words"}},
		"empty":             {"A=\nB=''\nC=\"\"\nD= # c\n", map[string]string{"A": "", "B": "", "C": "", "D": ""}},
		"comments":          {"# c\n  # c\nA=1 # c\nB=x#y\n", map[string]string{"A": "1", "B": "x"}},
		"hash in quotes":    {"A='#1' # c\nB=\"#2\"\nC=`#3`\n", map[string]string{"A": "#1", "B": "#2", "C": "#3"}},
		"export":            {"export A=1\nexport=2\nexport B: 3\n", map[string]string{"A": "1", "export": "2", "B": "3"}},
		"colon":             {"A: 1\nB:2\n", map[string]string{"A": "1"}},
		"escapes":           {`A="a\nb\rc\td"` + "\n" + `B='a\nb'`, map[string]string{"A": "a\nb\rc\\td", "B": `a\nb`}},
		"escaped quote":     {`A="say \"hi\""` + "\n" + `B='it\'s'`, map[string]string{"A": `say \"hi\"`, "B": `it\'s`}},
		"multi-line":        {"A=\"one\ntwo # not a comment\nthree\"\nB=`x\ny`", map[string]string{"A": "one\ntwo # not a comment\nthree", "B": "x\ny"}},
		"crlf":              {"A=1\r\nB=\"x\r\ny\"\r\n", map[string]string{"A": "1", "B": "x\ny"}},
		"not closed":        {"A=\"open\nB=2", map[string]string{"A": `"open`, "B": "2"}},
		"text after quote":  {"A='a' b\n", map[string]string{"A": "'a' b"}},
		"odd keys":          {"a.b-c_1=1\n=2\nä=3\n", map[string]string{"a.b-c_1": "1"}},
		"last one wins":     {"A=1\nA=2\n", map[string]string{"A": "2"}},
		"byte order mark":   {utf8BOM + "A=1", map[string]string{"A": "1"}},
		"no final newline":  {"A=1", map[string]string{"A": "1"}},
		"indented":          {"  \tA=1", map[string]string{"A": "1"}},
		"equals in value":   {"A=b=c==", map[string]string{"A": "b=c=="}},
		"dollar stays":      {"A=$B${C}", map[string]string{"A": "$B${C}"}},
		"quotes in a value": {`A=x"y'z`, map[string]string{"A": `x"y'z`}},
	} {
		if diff := cmp.Diff(tc.want, values(parseDotenv(newReport(), ".env", []byte(tc.text)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestExpandDotenv goes through the references.
func TestExpandDotenv(t *testing.T) {
	for name, tc := range map[string]struct {
		text    string
		process map[string]string
		want    map[string]string
	}{
		"earlier":         {"A=1\nB=$A-${A}", nil, map[string]string{"A": "1", "B": "1-1"}},
		"later":           {"A=$B\nB=1", nil, map[string]string{"A": "", "B": "1"}},
		"itself":          {"A=$A", nil, map[string]string{"A": ""}},
		"default":         {"A=${X:-d}\nB=${X-d}\nC=${A:-d2}\nD=${X}", nil, map[string]string{"A": "d", "B": "d", "C": "d", "D": ""}},
		"alternative":     {"A=1\nB=${A:+yes}\nC=${X+yes}", nil, map[string]string{"A": "1", "B": "yes", "C": ""}},
		"nested":          {"A=1\nB=${X:-${A}}", nil, map[string]string{"A": "1", "B": "1"}},
		"escaped":         {`A=\$B` + "\n" + `C=\${B}`, nil, map[string]string{"A": "$B", "C": "${B}"}},
		"process":         {"A=${HOME}", map[string]string{"HOME": "/h"}, map[string]string{"A": "/h"}},
		"process wins":    {"A=file\nB=$A", map[string]string{"A": "proc"}, map[string]string{"A": "proc", "B": "proc"}},
		"empty process":   {"A=file", map[string]string{"A": ""}, map[string]string{"A": "file"}},
		"not a reference": {"A=$1 $ ${} ${a b", nil, map[string]string{"A": "$1 $ ${} ${a b"}},
		"no loop":         {"A=${P}", map[string]string{"P": "x${P}"}, map[string]string{"A": "x"}},
	} {
		rep := newReport()
		got := values(expandDotenv(rep, parseDotenv(rep, ".env", []byte(tc.text)), tc.process))
		if diff := cmp.Diff(tc.want, got); diff != "" || rep.failed() {
			t.Errorf("%s: %v (-want +got):\n%s", name, rep.diagnostics, diff)
		}
	}
}

// TestExpandDotenvIsBounded shows that references that grow without end are an
// error that does not show the value.
func TestExpandDotenvIsBounded(t *testing.T) {
	rep := newReport()
	process := map[string]string{"P": "secret${P}"}
	expandDotenv(rep, parseDotenv(rep, ".env", []byte("A=x$P")), process)
	if !rep.failed() {
		t.Fatal("no error")
	}
	if text := rep.diagnostics[0].Render(false); strings.Contains(text, "secret") {
		t.Errorf("the diagnostic shows the value: %s", text)
	}
}

// TestParseDotenvIsLinear reads a file as large as any that is accepted. A
// parser that looked at the whole file for each line would not come to an end.
func TestParseDotenvIsLinear(t *testing.T) {
	text := strings.Repeat("A=1\n", maxFileBytes/4)
	entries := parseDotenv(newReport(), ".env", []byte(text))
	if n := len(entries); n != maxFileBytes/4 || entries[n-1].where.Line != n {
		t.Errorf("%d entries", n)
	}
}
