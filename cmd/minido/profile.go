//go:build profile

package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"sync"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/sched"
)

// envProfile is the address of the listener for profiles, such as 127.0.0.1:9000.
const envProfile = "MINIDO_PROFILE"

// profiler listens at the address of MINIDO_PROFILE, which must be a loopback one,
// until the process ends. POST /start begins the profiles of Go and of JavaScript;
// POST /stop?dir=DIR writes them there as go.pprof, js.pprof and heap.pprof.
func profiler(s sched.Scheduler) error {
	address := os.Getenv(envProfile)
	if address == "" {
		return nil
	}
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return fmt.Errorf("%s: %w", envProfile, err)
	}
	if !a.IP.IsLoopback() {
		return fmt.Errorf("%s=%s is no loopback address", envProfile, address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("%s: %w", envProfile, err)
	}
	p := &profiles{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /start", answer(func(*http.Request) error { return p.start() }))
	mux.HandleFunc("POST /stop", answer(func(r *http.Request) error { return p.stop(r.URL.Query().Get("dir")) }))
	s.Go("profiler", func() { _ = http.Serve(l, mux) }) // it ends with the process
	return nil
}

func answer(do func(*http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := do(r); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}
}

// profiles are those that are being taken. Safe for concurrent use.
type profiles struct {
	mu     sync.Mutex
	golang *os.File // nil between stop and start
	js     *os.File
}

// start keeps what is recorded in temporary files until stop says where it belongs.
func (p *profiles) start() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.golang != nil {
		return errors.New("profiles are being taken already")
	}
	if p.golang, err = os.CreateTemp("", "minido-*.pprof"); err != nil {
		return err
	}
	if p.js, err = os.CreateTemp("", "minido-*.pprof"); err != nil {
		return err
	}
	return errors.Join(pprof.StartCPUProfile(p.golang), goja.StartProfile(p.js))
}

func (p *profiles) stop(dir string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.golang == nil {
		return errors.New("no profiles are being taken")
	}
	pprof.StopCPUProfile()
	goja.StopProfile()
	err := errors.Join(take(p.golang, filepath.Join(dir, "go.pprof")), take(p.js, filepath.Join(dir, "js.pprof")))
	p.golang, p.js = nil, nil
	heap, created := os.Create(filepath.Join(dir, "heap.pprof"))
	if created != nil {
		return errors.Join(err, created)
	}
	return errors.Join(err, pprof.Lookup("allocs").WriteTo(heap, 0), heap.Close())
}

// take moves what was written to the file to path.
func take(f *os.File, path string) error {
	defer os.Remove(f.Name())
	if err := f.Close(); err != nil {
		return err
	}
	data, err := os.ReadFile(f.Name())
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
