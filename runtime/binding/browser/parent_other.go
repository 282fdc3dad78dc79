//go:build !linux

package browser

import "os/exec"

// endWithParent does nothing: a browser stays if minido is killed.
func endWithParent(*exec.Cmd) {}
