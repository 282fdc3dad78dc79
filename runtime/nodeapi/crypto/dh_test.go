package crypto

import "testing"

// The primes of the groups are those of RFC 2409 and RFC 3526.
func TestDiffieHellmanGroups(t *testing.T) {
	for name, g := range dhGroups {
		if p := oakley(g[0], int64(g[1])); g[0] <= 3072 && (p.BitLen() != g[0] || !p.ProbablyPrime(1) || !p.Rsh(p, 1).ProbablyPrime(1)) {
			t.Errorf("%s is no safe prime", name)
		}
	}
}
