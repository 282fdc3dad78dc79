package nodeapi

import (
	"path/filepath"
	"strings"
	"testing"
)

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

// node:url answers as the reference does (nodejs.org/api/url.html).
func TestURL(t *testing.T) { golden(t, "url") }

// node:querystring answers as the reference does (nodejs.org/api/querystring.html).
func TestQuerystring(t *testing.T) { golden(t, "querystring") }

// node:punycode answers as the reference does (nodejs.org/api/punycode.html).
func TestPunycode(t *testing.T) { golden(t, "punycode") }

// node:process answers as the reference does (nodejs.org/api/process.html).
func TestProcess(t *testing.T) { golden(t, "process") }

// node:timers answers as the reference does (nodejs.org/api/timers.html).
func TestTimers(t *testing.T) { golden(t, "timers") }

// node:assert answers as the reference does (nodejs.org/api/assert.html).
func TestAssert(t *testing.T) { golden(t, "assert") }

// The mocks of node:test answer as the reference's do (nodejs.org/api/test.html, "Mocking").
func TestMocks(t *testing.T) { golden(t, "test") }

// node:util answers as the reference does (nodejs.org/api/util.html).
func TestUtil(t *testing.T) { golden(t, "util") }

// node:zlib answers as the reference does (nodejs.org/api/zlib.html).
func TestZlib(t *testing.T) { golden(t, "zlib") }

// node:fs answers as the reference does (nodejs.org/api/fs.html).
func TestFS(t *testing.T) { golden(t, "fs") }

// Keys, signatures and key agreement of node:crypto are the reference's.
func TestCryptoKeys(t *testing.T) { golden(t, "crypto_keys") }

// Every export, method, option and error of a module, as the reference has them:
// testdata/probe_<module>.txt (nodejs.org/api).
func TestProbes(t *testing.T) {
	probes, err := filepath.Glob("testdata/probe_*.txt")
	if err != nil || len(probes) == 0 {
		t.Fatal("no probes: ", err)
	}
	for _, file := range probes {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) { golden(t, name) })
	}
}
