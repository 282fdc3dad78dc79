package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// detach starts the child in a console group of its own, so that Ctrl-C
// reaches the harness alone.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func killTree(p *os.Process) error {
	if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// killGroup does nothing: Windows has no group to kill after its leader.
func killGroup(int) {}

// interrupt ends the process at once: Windows cannot deliver Ctrl-C to one
// process of another console group.
func interrupt(p *os.Process) error { return p.Kill() }

// Windows cannot have a process of another stand still.
func suspend(*os.Process) error { return nil }
func resume(*os.Process) error  { return nil }

// wasKilled recognises TerminateProcess as os.Process.Kill uses it: exit code 1.
func wasKilled(state *os.ProcessState) bool { return state.ExitCode() == 1 }
