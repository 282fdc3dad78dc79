package planted

import (
	crand "crypto/rand"  // want: chance
	"hash/maphash"       // want: chance
	mrand "math/rand/v2" // want: chance
)

var (
	_ = crand.Read
	_ = mrand.Int
	_ maphash.Hash
)
