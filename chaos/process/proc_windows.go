package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"

	"minido.dev/minido/internal/killpoint"
)

// detach starts the child in a console group of its own, so that Ctrl-C
// reaches the harness alone.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func killTree(p *os.Process) error {
	if err := killpoint.Kill(p); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// killGroup does nothing: Windows has no group to kill after its leader.
func killGroup(int) {}

// interrupt sends CTRL_BREAK, which Go delivers as os.Interrupt: CTRL_C cannot be sent
// to one group. A process without a console hears neither, and is ended.
func interrupt(p *os.Process) error {
	if windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.Pid)) == nil {
		return nil
	}
	return killpoint.Kill(p)
}

// Windows cannot have a process of another stand still.
func suspend(*os.Process) error { return nil }
func resume(*os.Process) error  { return nil }

// wasKilled recognises what killpoint.Kill leaves.
func wasKilled(state *os.ProcessState) bool { return state.ExitCode() == killpoint.KilledCode }
