package mend

import "strings"

// Name is a helper's name without the number that esbuild appends where the file
// has a name like it.
func Name(helper string) string { return strings.TrimRight(helper, "0123456789") }

// AsyncUnit is the path, and the stem of the identifiers, of a file that awaits at
// its top level; the function that esbuild makes of it is the method of this name.
const AsyncUnit = "minido_async_unit"

// isIdent reports whether a byte may belong to a name.
func isIdent(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// Helpers are the names of the helpers that a unit needs for what this package puts
// into it: body is its code and prologue the helpers of esbuild's that stand before it.
// A unit gets them as parameters. A mistake costs a parameter, no more.
func Helpers(prologue, body string) (names []string) {
	if mayBound(body) {
		names = append(names, ShiftLeft, ShiftRight, Factor)
	}
	if strings.Contains(body, "await ") {
		names = append(names, AwaitGuard)
	}
	if assignsMembers(body) {
		names = append(names, MemberBase)
	}
	if strings.Contains(body, "?.") && strings.Contains(body, "...") {
		names = append(names, ChainCall)
	}
	if mayHaveAccessor(body) || mayHaveAsync(prologue, body) {
		names = append(names, OwnHelper)
	}
	if hasAsync(prologue) {
		names = append(names, AwaitResult, AwaitReturn, AsyncFunction, Delegation)
	}
	return names
}
