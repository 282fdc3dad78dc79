package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"minido.dev/minido/chaos/oracle"
	"minido.dev/minido/durableobject/pool"
	"minido.dev/minido/runtime/world"
)

// awake is the state at rest once the objects that differ were started again, in a
// simulation on a copy of the files. A program may leave it to the next start of an object
// to remove what a death left over. nil without such objects.
func (r *caseRun) awake(ctx context.Context, found []oracle.Difference) (state *oracle.State, err error) {
	type object struct{ namespace, id string }
	var objects []object
	for _, d := range found {
		if namespace, id, ok := d.Object(); ok && !slices.Contains(objects, object{namespace, id}) {
			objects = append(objects, object{namespace, id})
		}
	}
	if len(objects) == 0 {
		return nil, nil
	}
	dir, err := os.MkdirTemp(r.camp.workshop.Room(r.camp.dir), "awake-")
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	twin := &caseRun{camp: r.camp, slot: r.slot, dir: dir, events: io.Discard, begin: r.end.at}
	w, err := r.slot.simWorld(twin, r.camp.Seed)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := errors.Join(os.RemoveAll(w.system.State()), world.CopyState(r.end.dir, w.system.State())); err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	if _, err := w.Begin(ctx, 0, nil); err != nil {
		return nil, err
	}
	w.driven = w.Now()
	for _, o := range objects {
		ref, err := w.system.World.Server.Find(o.namespace, o.id)
		if errors.Is(err, pool.ErrNoClass) {
			continue // D1, KV, R2
		}
		if err != nil {
			return nil, fmt.Errorf("campaign: %w", err)
		}
		woken := false
		ref.Wake(func(error) { woken = true }) // a constructor that throws leaves all as it is
		if err := w.system.World.Until(func() bool { return woken }); err != nil {
			return nil, fmt.Errorf("campaign: %w", err)
		}
	}
	var early *end
	if _, err := w.rest(); err != nil && !errors.As(err, &early) {
		return nil, err
	}
	left, err := w.End()
	if err != nil {
		return nil, err
	}
	after, err := oracle.Read(left.dir, r.evidence.Events)
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	return &after, nil
}
