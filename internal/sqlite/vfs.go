package sqlite

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"minido.dev/minido/internal/planted"
)

// conns finds the connection behind a handle that C code carries as an opaque
// argument. It is the only state that connections share.
var (
	conns      sync.Map // uintptr -> *Conn
	connHandle atomic.Uint64
)

func connOf(handle uintptr) *Conn {
	c, ok := conns.Load(handle)
	if !ok {
		panic("sqlite: callback of a closed connection")
	}
	return c.(*Conn)
}

// vfsSize is the size of a VFS structure followed by the connection's handle.
const vfsSize = unsafe.Sizeof(sqlite3.Tsqlite3_vfs{}) + unsafe.Sizeof(uintptr(0))

// systemVFS is SQLite's default VFS as it is before the first connection. It is
// copied once, since SQLite links later ones to the original, under its own lock.
// Its zero value means that there is none.
var systemVFS sqlite3.Tsqlite3_vfs

func copySystemVFS(tls *libc.TLS) {
	if base := sqlite3.Xsqlite3_vfs_find(tls, 0); base != 0 {
		systemVFS = *(*sqlite3.Tsqlite3_vfs)(at(base))
		systemVFS.FpNext = 0
	}
}

// newVFS makes the connection's own VFS: a copy of the system's in which time
// and randomness are the connection's. SQLite takes CURRENT_TIMESTAMP,
// unixepoch('now') and their relatives from it, also in column defaults and
// triggers. The copy is registered only while the database is opened, which is
// when SQLite looks it up by name; the open connection holds a pointer to it.
func (c *Conn) newVFS() (name uintptr, err error) {
	if systemVFS.FxOpen == 0 {
		return 0, fmt.Errorf("sqlite: no default VFS")
	}
	c.vfs = alloc(c.tls, int(vfsSize))
	v := (*sqlite3.Tsqlite3_vfs)(at(c.vfs))
	*v = systemVFS
	*(*uintptr)(at(c.vfs + unsafe.Sizeof(*v))) = c.handle
	name = cString(c.tls, fmt.Sprintf("minido-%d", c.handle))
	v.FzName = name
	v.FxRandomness = randomnessPtr
	v.FxCurrentTime = currentTimePtr
	v.FxCurrentTimeInt64 = currentTimeInt64Ptr
	c.vfsName = name
	if c.beforeWrite != nil || c.files != nil {
		c.watchDisk(v)
	}
	if rc := sqlite3.Xsqlite3_vfs_register(c.tls, c.vfs, 0); rc != sqlite3.SQLITE_OK {
		return 0, fmt.Errorf("sqlite: register VFS: %s", codeName(int(rc)))
	}
	return name, nil
}

func vfsConn(vfs uintptr) *Conn {
	return connOf(*(*uintptr)(at(vfs + unsafe.Sizeof(sqlite3.Tsqlite3_vfs{}))))
}

var (
	randomnessPtr       = funcPtr(vfsRandomness)
	currentTimePtr      = funcPtr(vfsCurrentTime)
	currentTimeInt64Ptr = funcPtr(vfsCurrentTimeInt64)
	randomFnPtr         = funcPtr(sqlRandom)
	randomBlobFnPtr     = funcPtr(sqlRandomBlob)
)

func vfsRandomness(_ *libc.TLS, vfs uintptr, n int32, out uintptr) int32 {
	vfsConn(vfs).readRand(bytesAt(out, int(n)))
	return n
}

// julianEpochMillis is the Unix epoch as a Julian day number, in milliseconds.
const julianEpochMillis = 210866760000000

func vfsCurrentTimeInt64(_ *libc.TLS, vfs uintptr, out uintptr) int32 {
	*(*int64)(at(out)) = vfsConn(vfs).now().UnixMilli() + julianEpochMillis
	return sqlite3.SQLITE_OK
}

func vfsCurrentTime(_ *libc.TLS, vfs uintptr, out uintptr) int32 {
	*(*float64)(at(out)) = float64(vfsConn(vfs).now().UnixMilli()+julianEpochMillis) / 86400000
	return sqlite3.SQLITE_OK
}

// registerRandom replaces SQL's random() and randomblob(), which SQLite feeds
// from a generator that the whole process shares.
func (c *Conn) registerRandom() error {
	if planted.SQLRandom {
		return nil
	}
	const flags = sqlite3.SQLITE_UTF8 | sqlite3.SQLITE_INNOCUOUS
	for _, f := range []struct {
		name string
		args int32
		fn   uintptr
	}{{"random", 0, randomFnPtr}, {"randomblob", 1, randomBlobFnPtr}} {
		name := cString(c.tls, f.name)
		rc := sqlite3.Xsqlite3_create_function_v2(c.tls, c.db, name, f.args, flags, c.handle, f.fn, 0, 0, 0)
		free(c.tls, name)
		if rc != sqlite3.SQLITE_OK {
			return fmt.Errorf("sqlite: define %s: %w", f.name, c.errorOf(rc))
		}
	}
	return nil
}

// sqlRandom is random(): any 64-bit integer but the smallest, whose absolute
// value SQL cannot express.
func sqlRandom(tls *libc.TLS, ctx uintptr, _ int32, _ uintptr) {
	var b [8]byte
	connOf(sqlite3.Xsqlite3_user_data(tls, ctx)).readRand(b[:])
	r := int64(binary.LittleEndian.Uint64(b[:]))
	if r < 0 {
		r = -(r & (1<<63 - 1))
	}
	sqlite3.Xsqlite3_result_int64(tls, ctx, r)
}

// sqlRandomBlob is randomblob(n); n < 1 counts as 1.
func sqlRandomBlob(tls *libc.TLS, ctx uintptr, _ int32, argv uintptr) {
	c := connOf(sqlite3.Xsqlite3_user_data(tls, ctx))
	n := max(sqlite3.Xsqlite3_value_int64(tls, *(*uintptr)(at(argv))), 1)
	if n > int64(sqlite3.Xsqlite3_limit(tls, c.db, sqlite3.SQLITE_LIMIT_LENGTH, -1)) {
		sqlite3.Xsqlite3_result_error_toobig(tls, ctx)
		return
	}
	p := alloc(tls, int(n))
	c.readRand(bytesAt(p, int(n)))
	sqlite3.Xsqlite3_result_blob(tls, ctx, p, int32(n), freePtr)
}

var freePtr = funcPtr(sqlite3.Xsqlite3_free)

func (c *Conn) readRand(p []byte) {
	if n, err := c.rand.Read(p); n != len(p) || err != nil {
		panic(fmt.Sprintf("sqlite: the source of randomness failed: %d of %d bytes, %v", n, len(p), err))
	}
}
