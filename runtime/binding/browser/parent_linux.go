package browser

import (
	"os/exec"
	"syscall"
)

// endWithParent has the system end the process when minido ends, also by SIGKILL
// (prctl(2), PR_SET_PDEATHSIG). It gets a process group for kill.
func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// kill ends the process and those that it has started: they would write on.
func kill(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
