package drive

import (
	"strings"
	"testing"
)

// A step's text reads back as the step.
func TestStepsReadBack(t *testing.T) {
	for kind, texts := range map[Kind][]string{
		Call:  {`ResearchAgent/r1.startResearch("tides")`, `A/b.c.m()`, `A/x.m({"a":[1,2]},")")`},
		Chat:  {`ChatAgent/c1: hello: you`},
		Fetch: {`GET /`, `POST /notes?a=b {"text":"hi there"}`},
	} {
		for _, text := range texts {
			s, err := Parse(kind, text)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if s.String() != text {
				t.Errorf("%s became %s", text, s)
			}
		}
	}
	s, err := Parse(Call, `ResearchAgent/r.1.start("a",2)`)
	if err != nil || s.Agent() != "research-agent" || s.Name != "r.1" || s.Method != "start" || string(s.Args) != `["a",2]` {
		t.Errorf("%+v, %v", s, err)
	}
}

// What is no step is refused with an example of one.
func TestParseRefuses(t *testing.T) {
	for kind, texts := range map[Kind][]string{
		Call:  {"", "start()", "A/b()", "A/b.c(", "A/b.c(tides)"},
		Chat:  {"hello", "A: hello"},
		Fetch: {"", "notes", "post /x"},
	} {
		for _, text := range texts {
			if _, err := Parse(kind, text); err == nil || !strings.Contains(err.Error(), "for example") {
				t.Errorf("%s %q: %v", kind, text, err)
			}
		}
	}
}
