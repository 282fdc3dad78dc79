//go:build !profile

package main

import "minido.dev/minido/internal/sched"

// profiler serves profiles in a build for profiling alone, see profile.go.
func profiler(sched.Scheduler) error { return nil }
