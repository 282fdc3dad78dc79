package engine

import "time"

// Workers live in UTC, whatever the zone of the machine. goja reads the local
// zone from the time package and offers no other way to set it.
func init() { time.Local = time.UTC }
