package server

import (
	"errors"
	"path/filepath"
	"sync"

	"minido.dev/minido/runtime/cfapi"
	"minido.dev/minido/runtime/config"
	"minido.dev/minido/runtime/r2"
)

// bucketName is the bucket that an r2_buckets binding names, as wrangler dev
// chooses it.
func bucketName(b config.Binding) string {
	for _, p := range []string{"preview_bucket_name", "bucket_name"} {
		if name := b.Param(p); name != "" {
			return name
		}
	}
	return b.Name
}

// buckets are the R2 buckets that were asked for. Guarded by mu.
type buckets struct {
	mu   sync.Mutex
	open map[string]*r2.Bucket
}

// named is a binding's operations. The bucket is made at the first of them: a
// standby learns its persist directory only when it is put to work.
func (b *buckets) named(s *Server, name string) cfapi.R2 {
	return cfapi.R2Call(s.opts.Scheduler.Go, func(op string, r r2.Request, body []byte) (r2.Reply, []byte, error) {
		bucket, err := b.get(s, name)
		if err != nil {
			return r2.Reply{}, nil, err
		}
		return bucket.Do(op, r, body)
	})
}

func (b *buckets) get(s *Server, name string) (*r2.Bucket, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known := b.open[name]; known != nil {
		return known, nil
	}
	if s.opts.PersistDir == "" {
		return nil, errors.New("there is no persist directory yet")
	}
	bucket, err := r2.New(r2.Options{Dir: filepath.Join(s.opts.PersistDir, "v3", "r2"), Name: name,
		Clock: s.opts.Scheduler.Clock(), Entropy: s.opts.Entropy.Fork("r2 " + name), Points: s.opts.Points})
	if err != nil {
		return nil, err
	}
	if b.open == nil {
		b.open = map[string]*r2.Bucket{}
	}
	b.open[name] = bucket
	return bucket, nil
}

// close closes them all.
func (b *buckets) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, bucket := range b.open { // order-independent: each has a file of its own
		errs = append(errs, bucket.Close())
	}
	b.open = nil
	return errors.Join(errs...)
}
