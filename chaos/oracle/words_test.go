package oracle

import (
	"math/rand/v2"
	"regexp"
	"testing"
)

// The words are found where a regular expression finds them.
func TestCountedWords(t *testing.T) {
	want := regexp.MustCompile(`(?i)attempt|interrupt|retr(y|ies)|(^|_)tries|restart|recover|updated|heartbeat|(^|_)lease|generation`)
	parts := []string{"attempt", "INTERRUPT", "retr", "y", "ies", "tries", "Restart", "recover", "updatEd", "heartbeat", "lease", "generation", "_", "_", " ", "é", "s", "x", "", `{"a":`, "17"}
	random := rand.New(rand.NewPCG(1, 2))
	met := map[bool]int{}
	for range 20_000 {
		text := ""
		for range random.IntN(5) {
			text += parts[random.IntN(len(parts))]
		}
		got := counted.MatchString(text)
		if got != want.MatchString(text) {
			t.Fatalf("%q: %v", text, got)
		}
		met[got]++
	}
	if met[true] < 1000 || met[false] < 1000 {
		t.Errorf("met %v", met)
	}
}
