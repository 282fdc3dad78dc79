package main

import (
	"slices"
	"strings"
)

// packages have the tests that guard the targets, the quickest first.
var packages = []string{"./sqlstore", "./alarms", "./durableobject", "./durableobject/pool", "./runtime/engine"}

// target is code to mutate; no names of functions mean all.
type target struct {
	file  string
	funcs []string
	core  bool // the path of a commit itself, or the index of alarms: see -core
}

var targets = []target{
	{file: "sqlstore/txn.go", core: true},
	{file: "sqlstore/sync.go", core: true},
	{file: "sqlstore/store.go", funcs: strings.Fields("Open setUp Close Drop end"), core: true},
	{file: "sqlstore/history.go"},
	{file: "sqlstore/segment.go"},
	{file: "sqlstore/walfile.go"},
	{file: "sqlstore/unborn.go"},
	{file: "sqlstore/delete.go"},
	{file: "sqlstore/deleteall.go"},
	{file: "sqlstore/facets.go"},
	{file: "sqlstore/facetsum.go"},
	{file: "durableobject/object.go", funcs: strings.Fields("Commit commit seal startSync synced commitNow wrote unconfirmedIf recover failWith finish"), core: true},
	{file: "durableobject/gate.go", core: true},
	{file: "durableobject/txn.go", core: true},
	{file: "durableobject/alarm.go", funcs: strings.Fields("pending restore indexWrites same committed loadAlarm currentAlarm setAlarm deleteAlarm alarmDue forgetAlarm dropAlarm"), core: true},
	{file: "runtime/engine/context.go", funcs: strings.Fields("MarkDirty MarkUnconfirmed ClearDirty Emit Holds HoldBack LetGo HeldBack release"), core: true},
	{file: "alarms/index.go", core: true},
	{file: "alarms/scheduler.go"},
	{file: "alarms/deliver.go"},
}

// isCore reports whether a file is a core target.
func isCore(file string) bool {
	return slices.ContainsFunc(targets, func(t target) bool { return t.core && t.file == file })
}

// named are mutants by hand: mistakes that somebody could make, each of which
// breaks a promise.
var named = []struct{ name, file, fn, old, with string }{
	{"outputs leave before the sync", "durableobject/object.go", "seal",
		"o.sealed = o.ctx.HoldBack()", "o.sealed++"},
	{"the index is written before the row is on disk", "durableobject/object.go", "commit",
		"err := o.store.Sync(); err != nil { // the index", "err := error(nil); err != nil { // the index"},
	{"a sync lets go of commits that came after its start", "durableobject/object.go", "startSync",
		"func() { o.synced(mark, err, told) }", "func() { _ = mark; o.synced(o.sealed, err, told) }"},
	{"a sync counts before it has succeeded", "sqlstore/sync.go", "Syncer",
		"err = d.Sync(name, func() error { return syncFile(wal.File) })", "_ = d"},
}
