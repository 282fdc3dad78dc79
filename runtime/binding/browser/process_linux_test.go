package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// executable writes a script in the place of a browser.
func executable(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "browser")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// A browser that never listens is ended, and what it said is told.
func TestLaunchHasALimit(t *testing.T) {
	_, err := launch(executable(t, "echo waiting for a display >&2; exec sleep 1000"), 200*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "did not listen for DevTools within 200ms") || !strings.Contains(err.Error(), "waiting for a display") {
		t.Error(err)
	}
}

// What listens is taken, and ended with all of its files.
func TestLaunch(t *testing.T) {
	p, err := launch(executable(t, "echo DevTools listening on ws://127.0.0.1:1/devtools/browser/x >&2; exec sleep 1000"), time.Minute)
	if err != nil || p.Endpoint != "ws://127.0.0.1:1/devtools/browser/x" {
		t.Fatalf("%+v, %v", p, err)
	}
	if err := p.end(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(p.dir); !os.IsNotExist(err) {
		t.Errorf("its profile is left: %v", err)
	}
}

// What a browser has started is ended with it, and the profile removed, however fast it
// writes there.
func TestEndWithChildren(t *testing.T) {
	for range 10 {
		p, err := launch(executable(t, `for arg; do case $arg in --user-data-dir=*) dir=${arg#*=};; esac; done
for writer in 1 2 3; do (n=0; while :; do n=$((n+1)); mkdir -p $dir/$writer/$n; done) & done
echo DevTools listening on ws://127.0.0.1:1/devtools/browser/x >&2; wait`), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.end(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(p.dir); !os.IsNotExist(err) {
			t.Errorf("its profile is left: %v", err)
		}
	}
}

// One that fails at once says why.
func TestLaunchFails(t *testing.T) {
	_, err := launch(executable(t, "echo no usable sandbox >&2; exit 3"), time.Minute)
	if err == nil || !strings.Contains(err.Error(), "did not start (exit status 3): no usable sandbox") {
		t.Error(err)
	}
}
