//go:build unix

package killpoint

import "os"

// Kill ends a process by SIGKILL.
func Kill(p *os.Process) error { return p.Kill() }
