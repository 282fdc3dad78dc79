package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// MakeDir makes the directory of a campaign: dir, or a new one below minido-out, named after
// the project's folder, in which config is, and what the campaign does. It returns its absolute
// path. Safe for concurrent use, also by several processes.
func MakeDir(dir, config, verb string) (string, error) {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", fmt.Errorf("evidence: %w", err)
		}
		return filepath.Abs(dir)
	}
	base := filepath.Join("minido-out", filepath.Base(filepath.Dir(config))+"-"+verb)
	for n := 1; ; n++ {
		dir := base + "-" + strconv.Itoa(n)
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return "", fmt.Errorf("evidence: %w", err)
		}
		err := os.Mkdir(dir, 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("evidence: %w", err)
		}
		return filepath.Abs(dir)
	}
}

// LastCase is the number of the last case in a directory that an earlier
// campaign may have used: what it kept stays, and is nobody's state.
func LastCase(dir string) (last int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, fmt.Errorf("evidence: %w", err)
	}
	for _, e := range entries {
		if digits, ok := strings.CutPrefix(e.Name(), "case-"); ok {
			if n, err := strconv.Atoi(digits); err == nil {
				last = max(last, n)
			}
		}
	}
	return last, nil
}
