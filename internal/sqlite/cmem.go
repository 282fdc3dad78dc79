package sqlite

import (
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// at turns an address of SQLite's heap, which Go's collector neither moves nor
// frees, into a pointer. Only addresses that SQLite or alloc handed out may be
// passed.
func at(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// bytesAt views n bytes of SQLite's heap; the view dies with the memory.
func bytesAt(p uintptr, n int) []byte {
	if p == 0 || n <= 0 {
		return nil
	}
	return unsafe.Slice((*byte)(at(p)), n)
}

// goString copies a NUL-terminated string; the null pointer gives "".
func goString(p uintptr) string {
	if p == 0 {
		return ""
	}
	n := 0
	for *(*byte)(at(p + uintptr(n))) != 0 {
		n++
	}
	return string(bytesAt(p, n))
}

// alloc takes n bytes from SQLite's allocator. Running out of memory ends the
// program, as it does everywhere else in Go.
func alloc(tls *libc.TLS, n int) uintptr {
	p := sqlite3.Xsqlite3_malloc64(tls, sqlite3.Tsqlite3_uint64(max(n, 1)))
	if p == 0 {
		panic("sqlite: out of memory")
	}
	return p
}

func free(tls *libc.TLS, p uintptr) {
	if p != 0 {
		sqlite3.Xsqlite3_free(tls, p)
	}
}

// cString copies s and a terminating NUL into SQLite's heap.
func cString(tls *libc.TLS, s string) uintptr {
	p := alloc(tls, len(s)+1)
	b := unsafe.Slice((*byte)(at(p)), len(s)+1)
	copy(b, s)
	b[len(s)] = 0
	return p
}

// funcPtr gives the address under which translated C code calls a Go function.
// f must be a package-level function, so that the address stays valid.
func funcPtr[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f F }{f})) }

// arena holds the bytes bound to one statement. Memory handed out stays where
// it is until reset, so that it can be bound without a second copy.
// Loop-confined like the statement that owns it.
type arena struct {
	buf, cap, used uintptr
	old            []uintptr
}

// arenaKeep is the size, in bytes, up to which a statement keeps its arena
// between executions.
const arenaKeep = 4 << 10

func (a *arena) alloc(tls *libc.TLS, n uintptr) uintptr {
	n = (max(n, 1) + 7) &^ 7
	if a.used+n > a.cap {
		if a.buf != 0 {
			a.old = append(a.old, a.buf)
		}
		a.cap = max(n, 128)
		a.buf, a.used = alloc(tls, int(a.cap)), 0
	}
	p := a.buf + a.used
	a.used += n
	return p
}

func (a *arena) reset(tls *libc.TLS) {
	for _, p := range a.old {
		free(tls, p)
	}
	a.old = a.old[:0]
	a.used = 0
	if a.cap > arenaKeep {
		a.release(tls)
	}
}

func (a *arena) release(tls *libc.TLS) {
	for _, p := range a.old {
		free(tls, p)
	}
	free(tls, a.buf)
	*a = arena{}
}
