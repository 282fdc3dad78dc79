package sqlite

import "modernc.org/libc"

// Thread is what translated C code has for each thread: above all its stack, of
// up to some 40 KB once statements have been compiled. Connections that only one
// goroutine uses at a time, those of one loop, can share one; it lives as long
// as one of them is open. The zero value is ready for use. Confined like the
// connections that share it.
type Thread struct {
	tls   *libc.TLS
	users int
}

func (t *Thread) enter() *libc.TLS {
	if t.users == 0 {
		t.tls = libc.NewTLS()
	}
	t.users++
	return t.tls
}

func (t *Thread) leave() {
	if t.users--; t.users == 0 {
		t.tls.Close()
		t.tls = nil
	}
}
