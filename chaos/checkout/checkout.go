// Package checkout writes an earlier version of a project into a directory, with the npm
// packages that are installed now.
package checkout

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Commit writes the repository that dir is in, as it is in a commit, below root, and
// returns where dir is there. Packages are those that are installed now: a commit with
// other lockfiles is an error, as is everything that git refuses.
func Commit(ctx context.Context, dir, ref, root string) (there string, err error) {
	git := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
		var told bytes.Buffer
		cmd.Stderr = &told
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(told.String()))
		}
		return out, nil
	}
	commit, err := git("rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("it is neither a directory, nor a wrangler file, nor a commit of the repository that %s is in", dir)
	}
	top, err := git("rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	from := strings.TrimSpace(string(top))
	// Both with what links stand for, as git has it.
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	inside, err := filepath.Rel(filepath.FromSlash(from), real)
	if err != nil {
		return "", err
	}
	archive, err := git("-C", from, "archive", "--format=tar", strings.TrimSpace(string(commit)))
	if err != nil {
		return "", err
	}
	if err := unpack(archive, root); err != nil {
		return "", err
	}
	for at := inside; ; at = filepath.Dir(at) { // the packages of the project, and of the workspaces around it
		if err := borrowPackages(filepath.Join(filepath.FromSlash(from), at), filepath.Join(root, at)); err != nil {
			return "", err
		}
		if at == "." {
			return filepath.Join(root, inside), nil
		}
	}
}

// unpack writes the files of a tar archive below root.
func unpack(archive []byte, root string) error {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	in, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // nothing is written by it any more
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.FromSlash(strings.TrimSuffix(h.Name, "/"))
		switch h.Typeflag {
		case tar.TypeDir:
			err = in.MkdirAll(name, 0o700)
		case tar.TypeSymlink:
			err = in.Symlink(h.Linkname, name)
		case tar.TypeReg:
			var data []byte
			if data, err = io.ReadAll(r); err == nil {
				err = errors.Join(in.MkdirAll(filepath.Dir(name), 0o700), in.WriteFile(name, data, 0o600))
			}
		}
		if err != nil {
			return err
		}
	}
}

// borrowPackages has a checked out folder use the packages that are installed in the
// present one. They must be the same that it asks for.
func borrowPackages(present, old string) error {
	packages := filepath.Join(present, "node_modules")
	if _, err := os.Stat(packages); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Stat(old); errors.Is(err, fs.ErrNotExist) {
		return nil // the commit has no such folder
	}
	for _, name := range []string{"package-lock.json", "pnpm-lock.yaml", "yarn.lock"} {
		now, err := os.ReadFile(filepath.Join(present, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		then, thenErr := os.ReadFile(filepath.Join(old, name))
		if errors.Is(thenErr, fs.ErrNotExist) {
			continue // it was not kept in the repository
		}
		if err := errors.Join(err, thenErr); err != nil {
			return err
		}
		if !bytes.Equal(now, then) {
			return fmt.Errorf("it has another %s than %s, so its packages are not those that are installed; check it out into a directory of its own, run npm ci there, and name that directory", name, present)
		}
	}
	return os.Symlink(packages, filepath.Join(old, "node_modules"))
}
