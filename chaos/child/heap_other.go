//go:build !linux

package child

// enlargePages is for Linux: the others choose the size of pages themselves.
func enlargePages() {}
