package main

import "strings"

// target is code to mutate and the tests that guard it.
type target struct {
	file  string
	funcs []string // none: all
	tests []suite
}

// suite is one call of go test, of which a failure kills the mutant.
type suite struct{ pkg, run string }

var (
	storeTests = []suite{{"./sqlstore", ""}, {"./durableobject", "TestDeath|TestRowFires|TestBookmarks|TestFailed|TestOutputs|TestDiskFull"}}
	alarmTests = []suite{{"./alarms", ""}, {"./durableobject", "Alarm|TestRowFires|TestEarly|TestUnclean|TestGolden/alarms|TestNames"}}
	ownTests   = []suite{{"./durableobject", "TestDeath|TestFailed|TestOutputs|TestFrames|TestInputGate|TestAbort|TestGolden|TestAllow|TestPromise"},
		{"./durableobject", "Alarm|TestRowFires|TestEarly|TestUnclean|TestFacets|TestDiskFull"}}
)

var targets = []target{
	{file: "sqlstore/txn.go", tests: storeTests},
	{file: "sqlstore/sync.go", tests: storeTests},
	{file: "durableobject/object.go", funcs: strings.Fields("Commit commit seal startSync synced commitNow wrote recover failWith"), tests: ownTests},
	{file: "durableobject/gate.go", tests: ownTests},
	{file: "durableobject/alarm.go", funcs: strings.Fields("pending restore indexWrites same committed loadAlarm currentAlarm setAlarm deleteAlarm alarmDue forgetAlarm dropAlarm"), tests: ownTests},
	{file: "alarms/index.go", tests: alarmTests},
	{file: "alarms/scheduler.go", tests: alarmTests},
	{file: "alarms/deliver.go", tests: alarmTests},
}
