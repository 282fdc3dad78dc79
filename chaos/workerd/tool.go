// Package workerd runs a project under the wrangler that its user has installed, whose
// workerd is the specification of minido's behaviour. It finds wrangler, starts
// `wrangler dev` on a state directory, whose layout minido's is too, says when a
// system is at rest that nobody can ask for that, and places a SIGKILL at the moment
// at which a finding's death came.
package workerd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"minido.dev/minido/chaos"
)

// ByName has Find look for the wrangler of the project.
const ByName = "workerd"

// Tool is an installed wrangler. Immutable.
type Tool struct {
	// Wrangler is the program, Bin the folder of it and of the programs that it was installed
	// with, such as Node.
	Wrangler, Bin string
	// Version is that of its workerd, "" if that cannot be told.
	Version string
}

// Name is workerd and its version, for people.
func (t Tool) Name() string {
	if t.Version == "" {
		return "workerd"
	}
	return "workerd " + t.Version
}

// Find finds the wrangler that a project has installed, in the node_modules of its directory
// or of one above it. given is ByName, or names another one: the program, or a folder that has
// it in node_modules/.bin or in .bin.
//
// # Errors
//
// *chaos.UsageError, which says how to install it.
func Find(dir, given string) (Tool, error) {
	if given != ByName {
		return named(given)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Tool{}, fmt.Errorf("workerd: %w", err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		t, found, err := toolAt(filepath.Join(at, "node_modules", ".bin", program()))
		if found || err != nil {
			return t, err
		}
		if at == filepath.Dir(at) {
			return Tool{}, missing("neither %s nor a directory above it has wrangler in node_modules/.bin", dir)
		}
	}
}

// missing is the error for a wrangler that is not there.
func missing(format string, args ...any) error {
	return &chaos.UsageError{Text: fmt.Sprintf("--confirm: "+format, args...) +
		": install it, with its workerd, by \"npm install --save-dev wrangler\" in the project, or name one that is installed: --confirm PATH/TO/node_modules"}
}

func program() string {
	if runtime.GOOS == "windows" {
		return "wrangler.cmd"
	}
	return "wrangler"
}

// named is the wrangler at a path that a user gave.
func named(path string) (Tool, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Tool{}, fmt.Errorf("workerd: %w", err)
	}
	for _, candidate := range []string{path, filepath.Join(path, "node_modules", ".bin", program()), filepath.Join(path, ".bin", program())} {
		t, found, err := toolAt(candidate)
		if found || err != nil {
			return t, err
		}
	}
	return Tool{}, missing("there is no wrangler at %s", path)
}

// toolAt is the program at a path, if there is one.
func toolAt(path string) (t Tool, found bool, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return t, false, nil
	}
	if err != nil {
		return t, false, fmt.Errorf("workerd: %w", err)
	}
	t = Tool{Wrangler: path, Bin: filepath.Dir(path)}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return t, false, fmt.Errorf("workerd: %w", err)
	}
	t.Version, err = workerdVersion(filepath.Dir(real))
	return t, true, err
}

// workerdVersion is that of the package workerd that a module in dir would import; "" if
// there is none.
func workerdVersion(dir string) (string, error) {
	for ; ; dir = filepath.Dir(dir) {
		data, err := os.ReadFile(filepath.Join(dir, "node_modules", "workerd", "package.json"))
		if err == nil {
			var p struct{ Version string }
			if err := json.Unmarshal(data, &p); err != nil {
				return "", fmt.Errorf("workerd: the package.json of workerd: %w", err)
			}
			return p.Version, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("workerd: %w", err)
		}
		if dir == filepath.Dir(dir) {
			return "", nil
		}
	}
}
