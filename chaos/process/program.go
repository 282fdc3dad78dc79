package process

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// Program is the path of the program that runs: what executable says or, where
// it cannot (Linux without /proc, as in a bare chroot), what its first argument
// stands for.
//
// # Errors
//
// That there is no such program.
func Program(executable func() (string, error), arg0 string) (string, error) {
	self, err := executable()
	if err == nil {
		return self, nil
	}
	found, missing := exec.LookPath(arg0)
	if missing != nil {
		return "", fmt.Errorf("process: the path of this program, to start the processes that are killed: %w; neither is it %w. "+
			"Mount /proc, put minido into the PATH, or use --mode sim", err, missing)
	}
	return filepath.Abs(found)
}
