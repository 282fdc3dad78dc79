package event

// Tunnel is the sending half of a TCP connection that a request with the method
// CONNECT has opened (RFC 9110, section 9.3.6); the receiving half is the body of
// the response. The request's URL says where to, and whether TLS begins at once:
// "tcp://host:port" or "tls://host:port". Implementations are safe for concurrent
// use; each done is called once, from any goroutine.
type Tunnel interface {
	// RemoteAddress is the peer's, as "address:port".
	RemoteAddress() string
	// Write sends a chunk, which it keeps. One Write may be outstanding at a time.
	Write(chunk []byte, done func(error))
	// CloseWrite tells the peer that no more will come.
	CloseWrite(done func(error))
	// Close ends both halves; a read or a write that is outstanding fails. It may
	// be called more than once.
	Close()
	// Secure begins TLS on a connection without it, with a server of this name.
	// The body of the first response ends with an error. No Write may be
	// outstanding. done gets a response with a body and a tunnel of their own.
	Secure(name string, done func(*Response, error))
}
