// Command release builds minido for every supported platform from one commit: stripped
// binaries in archives, their checksums, and an SBOM (CycloneDX). The same commit
// gives the same bytes; -check builds this machine's binary twice, in two folders and
// with separate build caches, and compares. "make release" runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"minido.dev/minido/internal/version"
)

// targets are the systems of a release. The binaries use no C library, so those for
// Linux run with glibc and musl alike.
var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// binary is the file's name as users type it.
func (t target) binary() string {
	if t.os == "windows" {
		return "minido.exe"
	}
	return "minido"
}

// folder is where the binary lies below the output directory.
func (t target) folder() string { return filepath.Join("bin", t.os+"-"+t.arch) }

// commit is what the binaries are stamped with.
type commit struct {
	id string
	at time.Time
}

func main() {
	out := flag.String("out", "dist", "directory of the archives; it is made, and files of the same names are replaced")
	only := flag.String("targets", "", "comma-separated systems, such as linux/amd64; empty: all")
	modified := flag.Bool("modified", false, "allow a tree with changes; its binaries say so")
	url := flag.String("url", "", "address below which the archives will lie; adds a Homebrew formula")
	check := flag.Bool("check", false, "build this machine's binary twice and compare; write nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, *out, *only, *url, *modified, *check)
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, only, url string, modified, check bool) error {
	c, err := head(ctx, modified)
	if err != nil {
		return err
	}
	if check {
		return reproduce(ctx, c)
	}
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	var made []artifact
	for _, t := range chosen {
		path := filepath.Join(out, t.folder(), t.binary())
		if err := build(ctx, ".", path, t, c, os.Environ()); err != nil {
			return err
		}
		archived, err := pack(out, path, t, c)
		if err != nil {
			return err
		}
		made = append(made, archived)
		fmt.Printf("%-14s %s, %d MB unpacked\n", t, filepath.Base(archived.archive), archived.size>>20)
	}
	bom, err := writeBOM(out, made, c)
	if err != nil {
		return err
	}
	further := []string{bom}
	if url != "" {
		formula, err := writeFormula(out, url, made)
		if err != nil {
			return err
		}
		further = append(further, formula)
	}
	return writeSums(out, made, further...)
}

func choose(only string) ([]target, error) {
	if only == "" {
		return targets, nil
	}
	var chosen []target
	for _, name := range strings.Split(only, ",") {
		found := false
		for _, t := range targets {
			if t.String() == name || name == "host" && t == host() {
				chosen, found = append(chosen, t), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no release is made for %q; the systems are %v, and host for this one", name, targets)
		}
	}
	return chosen, nil
}

func host() target { return target{runtime.GOOS, runtime.GOARCH} }

// head is the commit that is checked out. A tree with changes is refused, or marked.
func head(ctx context.Context, modified bool) (commit, error) {
	id, err := output(ctx, "git", "rev-parse", "HEAD")
	if err != nil {
		return commit{}, err
	}
	stamp, err := output(ctx, "git", "show", "-s", "--format=%cI", "HEAD")
	if err != nil {
		return commit{}, err
	}
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return commit{}, fmt.Errorf("the commit's date: %w", err)
	}
	changes, err := output(ctx, "git", "status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return commit{}, err
	}
	if changes != "" {
		if !modified {
			return commit{}, errors.New("the tree has changes that are not committed; commit them, or try with -modified")
		}
		id = id[:12] + "+changes"
	}
	return commit{id, at.UTC()}, nil
}

func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = os.Stderr
	b, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(b)), nil
}

// archiveName is a file's name without its ending, such as minido-0.1.0-linux-amd64.
func archiveName(t target) string {
	return "minido-" + version.Number() + "-" + t.os + "-" + t.arch
}
