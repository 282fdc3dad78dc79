package control

import "golang.org/x/sys/windows"

// stillActive is the exit code of a process that runs (STATUS_PENDING).
const stillActive = 259

// alive reports whether a process of that id runs.
func alive(pid int) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(h)
	var code uint32
	return windows.GetExitCodeProcess(h, &code) == nil && code == stillActive
}
