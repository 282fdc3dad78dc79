//go:build !linux

package browser

import "os/exec"

// endWithParent does nothing: a browser stays if minido is killed.
func endWithParent(*exec.Cmd) {}

// kill ends the process; those that it has started end when they notice.
func kill(cmd *exec.Cmd) error { return cmd.Process.Kill() }
