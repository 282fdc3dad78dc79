package fault

import (
	"fmt"
	"io/fs"
	"net"
	"syscall"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/internal/sqlite"
)

// Fail is the verb of what the disk or the resolver refuses.
const Fail Verb = "fail"

var fail = Kind{
	Verb:  Fail,
	Forms: []string{"fail(full)", "fail(io)", "fail(busy)", "fail(sync)", "fail(dns)"},
	Does: "the write at that point fails because the disk is full, broken or locked. `sync`: the commit was written but not synced, so its response is never sent. " +
		"`dns`: the host name of a fetch does not resolve",
	Draws: []string{"fail(full)", "fail(io)", "fail(busy)", "fail(sync)", "fail(dns)"}, Weight: 3,
	Takes:       oneOf("full", "io", "busy", "sync", "dns"),
	Happens:     canFail,
	Where:       "write fail(full), fail(io) or fail(busy) with the before-side of a commit, index or store, fail(sync) with the after-side of a commit, fail(dns) with fetch:before",
	EndsObjects: func(arg string) bool { return arg != "dns" },
	Do: func(_ Machine, arg string, at killpoint.Point, done func(error)) error {
		done(nil)
		return machineError(arg, at)
	},
}

// canFail is Happens for Fail.
func canFail(arg string, at killpoint.Point) bool {
	row := at.Kind == killpoint.Commit || at.Kind == killpoint.Index
	switch arg {
	case "sync":
		return at.Kind == killpoint.Commit && at.Side == killpoint.After // an index syncs within its write
	case "dns":
		return isFetch(arg, at)
	}
	return (row || at.Kind == killpoint.Store) && at.Side == killpoint.Before
}

// machineError is what a write meets on a disk that is full, breaks, or is locked
// by another process (SQLite's error where SQLite writes), what a sync meets, and
// what a name does that nobody resolves.
func machineError(why string, p killpoint.Point) error {
	switch why {
	case "sync":
		return fmt.Errorf("sync: %w", syscall.EIO)
	case "dns":
		return &net.DNSError{Err: "no such host", IsNotFound: true}
	}
	e := map[string]struct {
		code  int
		text  string
		errno syscall.Errno
	}{
		"full": {sqlite.CodeFull, "database or disk is full", syscall.ENOSPC},
		"io":   {sqlite.CodeIOErr, "disk I/O error", syscall.EIO},
		"busy": {sqlite.CodeBusy, "database is locked", syscall.EBUSY},
	}[why]
	if p.Kind == killpoint.Store {
		return &fs.PathError{Op: "write", Path: p.Object, Err: e.errno}
	}
	return &sqlite.Error{Code: e.code, Extended: e.code, Message: e.text, Offset: -1}
}
