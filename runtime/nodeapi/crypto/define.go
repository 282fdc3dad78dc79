// Package crypto holds node:crypto: hashes, ciphers, keys, signatures, certificates.
package crypto

import (
	"embed"

	"minido.dev/minido/runtime/nodeapi/node"
)

//go:embed js/*.js
var files embed.FS

// Define declares the modules.
func Define(r *node.Registry) {
	s := node.Sources{Registry: r, Files: files}
	s.Internal("internal/crypto_stream", "crypto_stream.js", nil)
	s.Internal("internal/crypto_later", "crypto_later.js", nil)
	s.Internal("internal/crypto_keys", "crypto_keys.js", keysModule)
	s.Internal("internal/crypto_x509", "crypto_x509.js", x509Natives)
	s.JS("crypto", "crypto.js", cryptoModule)
}

// module is one of them in one isolate. Loop-confined.
type module struct {
	*node.Modules
}
