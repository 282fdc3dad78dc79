package builtin

import (
	"iter"
	"unicode/utf16"
	"unicode/utf8"
)

// LoneSurrogates yields where the halves of characters stand that have no other half
// beside them (ECMA-262, section 11.1.4).
func LoneSurrogates(units []uint16) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < len(units); i++ {
			switch {
			case !utf16.IsSurrogate(rune(units[i])):
			case i+1 < len(units) && utf16.DecodeRune(rune(units[i]), rune(units[i+1])) != utf8.RuneError:
				i++
			case !yield(i):
				return
			}
		}
	}
}
