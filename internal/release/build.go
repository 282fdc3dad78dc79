package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"minido.dev/minido/runtime/binding/images/picture/codecs"
	"minido.dev/minido/runtime/engine/prepared"
	"minido.dev/minido/vitest/bundled"
)

const stampedPackage = "minido.dev/minido/internal/version"

// build compiles the command in dir for t. Nothing of this machine gets into the
// binary: paths are trimmed, there is no build id, and the stamps are the commit's.
func build(ctx context.Context, dir, out string, t target, c commit, env []string) error {
	path, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	flags := fmt.Sprintf("-s -w -buildid= -X %[1]s.commit=%[2]s -X %[1]s.date=%[3]s", stampedPackage, c.id, c.at.Format(time.RFC3339))
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", path, "./cmd/minido")
	cmd.Dir = dir
	// The minimum that every machine of the architecture has, whatever this one's setting.
	cmd.Env = append(slices.Clip(env), "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0", "GOOS="+t.os, "GOARCH="+t.arch)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build for %s: %w\n%s", t, err, text)
	}
	return nil
}

// reproduce builds this machine's binary from the committed tree, and the vitest that
// was made for it, in two folders, the second time with an empty build cache, and
// compares the bytes.
func reproduce(ctx context.Context, c commit) (err error) {
	work, err := os.MkdirTemp("", "minido-release")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	var binaries [2][]byte
	for i, name := range []string{"one", "another/and-deeper"} {
		dir := filepath.Join(work, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := export(ctx, dir); err != nil {
			return err
		}
		env := os.Environ()
		if i == 1 {
			env = append(env, "GOCACHE="+filepath.Join(work, "cache"))
		}
		out := filepath.Join(dir, "built")
		if err := build(ctx, dir, out, host(), c, env); err != nil {
			return err
		}
		if binaries[i], err = os.ReadFile(out); err != nil {
			return err
		}
	}
	if !bytes.Equal(binaries[0], binaries[1]) {
		return fmt.Errorf("two builds of %s for %s differ (%d and %d bytes)", c.id, host(), len(binaries[0]), len(binaries[1]))
	}
	fmt.Printf("reproducible: two builds of %s for %s have the same %d bytes, sha256 %s\n", c.id, host(), len(binaries[0]), sum(binaries[0]))
	return nil
}

// made are the files that are compiled in and not in the repository.
func made() ([]string, error) {
	files, err := filepath.Glob(filepath.Join("runtime/engine/prepared", prepared.Dir, "*"+prepared.Ending))
	if err == nil && len(files) == 0 {
		err = errors.New("make release makes the programs of runtime/engine/prepared first: there are none")
	}
	files = append(files, filepath.Join("vitest/bundled", bundled.File))
	for _, f := range codecs.Files() {
		files = append(files, filepath.Join("runtime/binding/images/picture/codecs", codecs.Dir, f.Name))
	}
	return files, err
}

// export writes the files of HEAD to dir, and what was made.
func export(ctx context.Context, dir string) error {
	tree := exec.CommandContext(ctx, "git", "archive", "--format=tar", "HEAD")
	var data, complaints bytes.Buffer
	tree.Stdout, tree.Stderr = &data, &complaints
	if err := tree.Run(); err != nil {
		return fmt.Errorf("git archive: %w\n%s", err, strings.TrimSpace(complaints.String()))
	}
	if err := unpack(&data, dir); err != nil {
		return err
	}
	files, err := made()
	if err != nil {
		return err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("make release makes this file first: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
