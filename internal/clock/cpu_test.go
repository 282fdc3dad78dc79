package clock

import (
	"testing"
	"time"
)

// Work takes CPU time; waiting takes next to none.
func TestCPU(t *testing.T) {
	read := func() time.Duration {
		d, err := (Real{}).CPU()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	before, sum := read(), 0
	for began := read(); read() < began+50*time.Millisecond; sum++ {
	}
	worked := read() - before
	timer := time.NewTimer(200 * time.Millisecond)
	before = read()
	<-timer.C
	if waited := read() - before; worked < 50*time.Millisecond || waited > 100*time.Millisecond {
		t.Errorf("work took %v of CPU, waiting %v (%d)", worked, waited, sum)
	}
}
