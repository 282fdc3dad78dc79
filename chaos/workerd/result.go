package workerd

import (
	"fmt"
	"strings"
)

// Result says what became of a finding on workerd. Immutable.
type Result struct {
	// By is workerd and its version.
	By string `json:"by"`
	// Reproduced says that a run violates the same; Try is which, from 1.
	Reproduced bool `json:"reproduced"`
	Try        int  `json:"try,omitempty"`
	// Tries is how many runs there may be, Run how many there were, Missed in how many of them
	// the system came to rest before the moment of its death.
	Tries  int `json:"tries,omitempty"`
	Run    int `json:"run"`
	Missed int `json:"missed,omitempty"`
	// Other is what runs violated that the finding does not.
	Other []string `json:"other,omitempty"`
	// How says when the last death came of the run that reproduces it, Violated what it violates.
	How      string   `json:"how,omitempty"`
	Violated []string `json:"violated,omitempty"`
	// Why says why it was not run, or not often enough to say anything.
	Why string `json:"why,omitempty"`
	// Dir has the evidence of the run that reproduces it.
	Dir string `json:"dir,omitempty"`
}

// String is the result for people.
func (r Result) String() string {
	if r.Reproduced {
		return fmt.Sprintf("also on %s (try %d of %d, killed %s)", r.By, r.Try, r.Tries, r.How)
	}
	if r.Why != "" && r.Run == 0 {
		return "not tried on workerd: " + r.Why
	}
	text := fmt.Sprintf("not reproduced on %s in %d %s", r.By, r.Run, map[bool]string{true: "try", false: "tries"}[r.Run == 1])
	if r.Missed > 0 {
		text += fmt.Sprintf(", %d of which came to rest before the moment of the death", r.Missed)
	}
	if r.Why != "" {
		text += "; then " + r.Why
	}
	if len(r.Other) > 0 {
		text += "; something else was violated: " + strings.Join(r.Other, ", ")
	}
	return text
}
