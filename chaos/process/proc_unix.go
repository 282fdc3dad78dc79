//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// detach puts the child into a process group of its own, so that Ctrl-C at the
// terminal reaches the harness alone and the group can be killed as one.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

// killTree kills the group of a process that was not reaped yet: until then
// its id cannot belong to anybody else.
func killTree(p *os.Process) error {
	err := syscall.Kill(-p.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// killGroup kills what is left of the group of a process that was just reaped.
// An empty group is the normal case, and no reason to complain.
func killGroup(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGKILL) // ESRCH: nothing was left
}

func interrupt(p *os.Process) error { return p.Signal(os.Interrupt) }

func suspend(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func resume(p *os.Process) error { return p.Signal(syscall.SIGCONT) }

func wasKilled(state *os.ProcessState) bool {
	ws, ok := state.Sys().(syscall.WaitStatus)
	return ok && ws.Signaled() && ws.Signal() == syscall.SIGKILL
}
