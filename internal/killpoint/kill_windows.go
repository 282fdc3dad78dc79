package killpoint

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// KilledCode is the exit code of a process that Kill ended. os.Process.Kill leaves 1,
// which is also the code of a process that failed.
const KilledCode = 128 + 9

// Kill ends a process by TerminateProcess.
func Kill(p *os.Process) error {
	h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(p.Pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return os.ErrProcessDone // no process has this id
	}
	if err != nil {
		return os.NewSyscallError("OpenProcess", err)
	}
	defer windows.CloseHandle(h)
	return os.NewSyscallError("TerminateProcess", windows.TerminateProcess(h, KilledCode))
}
