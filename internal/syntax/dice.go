package syntax

import "minido.dev/minido/internal/entropy"

// dice makes a program's choices. Confined to its call.
type dice struct{ random *entropy.Seeded }

func (d *dice) n(n int) int { return int(d.random.Uint64() % uint64(n)) }

func (d *dice) chance(one int) bool { return d.n(one) == 0 }

func (d *dice) pick(from ...string) string { return from[d.n(len(from))] }
