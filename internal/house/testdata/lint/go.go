package planted

import (
	"context"
	"sync"
)

type spawner struct{}

func (spawner) Go(f func()) {}

func goes(ctx context.Context, spawn func(func())) {
	go func() {}() // want: go
	var wg sync.WaitGroup
	wg.Go(func() {})                  // want: go
	context.AfterFunc(ctx, func() {}) // want: go
	spawn(func() {})
	spawner{}.Go(func() {})
}
