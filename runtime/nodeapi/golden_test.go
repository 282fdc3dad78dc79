package nodeapi

import "testing"

// node:path answers as the reference does (nodejs.org/api/path.html).
func TestPath(t *testing.T) { golden(t, "path") }

// node:buffer answers as the reference does (nodejs.org/api/buffer.html).
func TestBuffer(t *testing.T) { golden(t, "buffer") }

// node:events answers as the reference does (nodejs.org/api/events.html).
func TestEvents(t *testing.T) { golden(t, "events") }
