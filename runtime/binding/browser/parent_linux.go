package browser

import (
	"os/exec"
	"syscall"
)

// endWithParent has the system end the process when minido ends, also by SIGKILL
// (prctl(2), PR_SET_PDEATHSIG).
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
