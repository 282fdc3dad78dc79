package process

import "syscall"

// dieWithParent has the kernel kill the child when the harness is gone. The
// kernel means the thread that started it; Go ends a thread only when a
// goroutine locked to it ends, and the harness locks none.
func dieWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
