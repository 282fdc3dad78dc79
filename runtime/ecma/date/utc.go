package date

import "time"

// Workers live in UTC, whatever the zone of the machine. goja reads the local
// zone from the time package and offers no other way to set it; it shows the
// zone's name in Date.prototype.toString, where V8 has the long one.
func init() { time.Local = time.FixedZone("Coordinated Universal Time", 0) }
