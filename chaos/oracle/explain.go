package oracle

import (
	"fmt"
	"strings"
)

// maxShown is how many differences a finding lists.
const maxShown = 6

// Explain is the text of a finding: its first differences, and what was not compared.
func Explain(kind string, differences []Difference, mask Mask) string {
	where := "at rest "
	var lines []string
	if kind == Told {
		where, lines = "", Answers(differences)
	} else {
		for _, d := range differences {
			lines = append(lines, d.String())
		}
	}
	if more := len(lines) - maxShown; more > 0 {
		lines = append(lines[:maxShown], fmt.Sprintf("and %d more", more))
	}
	text := where + strings.Join(lines, "; ")
	if masked := mask.Masked(); len(masked) > 0 {
		for i, place := range masked { // "/(told) GET /a #1.load" is a member of an answer
			if answer, is := strings.CutPrefix(place, "/"+toldPrefix); is {
				masked[i] = "the answer to " + answer
			}
		}
		text += " (not compared: " + strings.Join(masked, ", ") + ")"
	}
	return text
}
