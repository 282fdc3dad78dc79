package agentrpc

import "testing"

// The names of bindings in URLs are the SDK's.
func TestKebabCase(t *testing.T) {
	for in, want := range map[string]string{
		"ResearchAgent": "research-agent", "RESEARCH_AGENT": "research-agent", "Agent": "agent", "myHTTPAgent": "my-h-t-t-p-agent",
		"my_agent": "my-agent", "agent2": "agent2", "": "",
	} {
		if got := Kebab(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
