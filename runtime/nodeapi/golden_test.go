package nodeapi

import "testing"

// node:path answers as the reference does (nodejs.org/api/path.html).
func TestPath(t *testing.T) { golden(t, "path") }

// node:buffer answers as the reference does (nodejs.org/api/buffer.html).
func TestBuffer(t *testing.T) { golden(t, "buffer") }

// node:events answers as the reference does (nodejs.org/api/events.html).
func TestEvents(t *testing.T) { golden(t, "events") }

// node:crypto answers as the reference does (nodejs.org/api/crypto.html).
func TestCrypto(t *testing.T) { golden(t, "crypto") }

// node:stream answers as the reference does (nodejs.org/api/stream.html).
func TestStream(t *testing.T) { golden(t, "stream") }

// node:string_decoder answers as the reference does (nodejs.org/api/string_decoder.html).
func TestStringDecoder(t *testing.T) { golden(t, "string_decoder") }
