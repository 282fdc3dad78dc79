package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// startProfiles begins the profiles of a server that takes them, and otherwise does
// nothing.
func (s *server) startProfiles(ctx context.Context) error {
	if s.profiler == "" {
		return nil
	}
	return command(ctx, s.profiler+"/start")
}

// takeProfiles ends what startProfiles began and writes, into a directory named after
// the row, go.pprof, js.pprof, heap.pprof and the folded stacks of the first two, as
// flame graphs are drawn from: a line for each stack, its frames from the outermost on,
// and the microseconds of its samples.
func (b *bench) takeProfiles(ctx context.Context, s *server, row string) error {
	if s.profiler == "" {
		return nil
	}
	dir, err := filepath.Abs(filepath.Join(b.profile, row))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := command(ctx, s.profiler+"/stop?dir="+url.QueryEscape(dir)); err != nil {
		return err
	}
	for _, kind := range []string{"go", "js"} {
		if err := foldFile(filepath.Join(dir, kind+".pprof"), filepath.Join(dir, kind+".folded")); err != nil {
			return fmt.Errorf("%s.pprof: %w", kind, err)
		}
	}
	fmt.Fprintln(os.Stderr, "profiles:", dir)
	return nil
}

func command(ctx context.Context, address string) (err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("profiles need a minido that was built with -tags profile: %w", err)
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("profiles: %s", strings.TrimSpace(string(text)))
	}
	return err
}

func foldFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	p, err := profile.Parse(in)
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return fold(p, out)
}

// fold writes a profile's stacks, sorted. The last value of a sample is its time in
// nanoseconds.
func fold(p *profile.Profile, to io.Writer) error {
	sum := map[string]int64{}
	for _, s := range p.Sample {
		var frames []string
		for _, l := range slices.Backward(s.Location) {
			for _, line := range slices.Backward(l.Line) { // of functions that are inlined, the outermost is last
				frames = append(frames, strings.ReplaceAll(line.Function.Name, ";", ","))
			}
		}
		sum[strings.Join(frames, ";")] += s.Value[len(s.Value)-1] / 1000
	}
	stacks := make([]string, 0, len(sum))
	for stack := range sum {
		stacks = append(stacks, stack)
	}
	slices.Sort(stacks)
	w := bufio.NewWriter(to)
	for _, stack := range stacks {
		fmt.Fprintf(w, "%s %d\n", stack, sum[stack])
	}
	return w.Flush()
}
