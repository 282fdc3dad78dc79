package campaign

import (
	"context"
	"errors"
	"time"

	"minido.dev/minido/chaos/drive"
	"minido.dev/minido/chaos/fault"
	"minido.dev/minido/chaos/process"
	"minido.dev/minido/chaos/sim"
	"minido.dev/minido/runtime/world"
)

// World is where the lives of one case take place: real processes
// (processWorld), or a simulation (simWorld). The life cycle of a case
// (caseRun.play) knows nothing else of the two. A World belongs to the goroutine
// of its case.
type World interface {
	// Begin begins the nth life, counted from 0, with its faults armed. The error is
	// errDied if the life's kill came during the start.
	Begin(ctx context.Context, n int, life fault.Plan) (born, error)
	// Drive lets the driver go on in the present life. It returns at once; Next
	// reports driven when the driver has stopped.
	Drive(ctx context.Context, d drive.Driver)
	// Next waits for the next thing that happens in the present life. The error is an
	// *end when the life is over and nothing has killed it, such as one that does
	// not become idle within its limit.
	Next(ctx context.Context, d drive.Driver) (happening, error)
	// Wake has every object constructed that is stored and not in memory, and returns those
	// that could not be, each with why. The error is errDied if the life's kill came.
	Wake(ctx context.Context) (unborn []string, err error)
	// Kill ends the present life from outside, as SIGKILL does.
	Kill() error
	// Leave ends what the clients do in the present life, which is over: died says
	// how, err why else. It returns err, or what makes it moot.
	Leave(died bool, err error) error
	// Death returns what a life left that has died; End ends the present life, which
	// has not died, and returns what it left. Either follows Leave.
	Death() (remains, error)
	End() (remains, error)
	// Bury follows Death, once that is in the history: the next life gets the files,
	// and clients that still wait learn that nothing will come.
	Bury() error
	// Now is the time by which the harness measures.
	Now() time.Time
	// Close ends what still runs.
	Close() error
}

// born is how a life began.
type born struct {
	url     string
	pid     int     // of the server's process; 0 in a simulation
	readyMs float64 // since the last death
}

// remains are what a life left.
type remains struct {
	copied
	points []process.Point // that it passed, in order
	after  []int           // belongs to points: how many events the history had; nil with real processes
	acted  []process.Acted // faults that were no kill
	since  time.Time       // when the life before it died
	// bounded says that the life was ended at the horizon.
	bounded bool
	// states belong to points; nil if they were not taken. recording is nil if there
	// is none that can be played back. Both are of a simulation.
	states    []sim.State
	recording *world.Recording
	trace     []sim.Passed // nil if it was not taken
}

// happening is what Next has waited for.
type happening struct {
	what what
	err  error // of driven: how the driver ended
}

type what int

const (
	died   what = iota + 1 // the present life was killed, as its plan or a person said
	driven                 // the driver has stopped for this life
	due                    // the moment of a kill at a time has come
	rested                 // nothing is left to do
)

// errDied is returned by Begin.
var errDied = errors.New("the server died during its start, as the plan says")
