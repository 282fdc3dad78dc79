// Package planted breaks the rule about what a start compiles.
package planted

import (
	"regexp"
	"sync"
)

var digits = regexp.MustCompile(`\d+`) // want: start-up

var (
	letters = map[string]*regexp.Regexp{"en": regexp.MustCompile(`[a-z]+`)} // want: start-up
	later   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`x`) })
)

func matches(s string) bool {
	return regexp.MustCompile(s).MatchString(s) && digits.MatchString(s) && letters["en"].MatchString(s) && later().MatchString(s)
}
