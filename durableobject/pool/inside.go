package pool

import (
	"encoding/json"

	"minido.dev/minido/durableobject"
)

// Execute runs SQL in the object, which is started if it is not in memory; see
// durableobject.Inside.Execute. done is called exactly once. Safe for concurrent use.
func (r Ref) Execute(statements []durableobject.Statement, done func([]durableobject.Result, error)) {
	r.e.with(nil, func(o *durableobject.Object) { o.Inside().Execute(statements, done) }, func(err error) { done(nil, err) })
}

// Values lists keys of the object's key-value storage; see durableobject.Inside.Values.
// done is called exactly once. Safe for concurrent use.
func (r Ref) Values(prefix, after string, limit int, done func(list []durableobject.StoredValue, more bool, err error)) {
	r.e.with(nil, func(o *durableobject.Object) { o.Inside().Values(prefix, after, limit, done) }, func(err error) { done(nil, false, err) })
}

// Put stores a value, which is JSON, under a key of the object. done is called exactly
// once. Safe for concurrent use.
func (r Ref) Put(key string, value json.RawMessage, done func(error)) {
	r.e.with(nil, func(o *durableobject.Object) { o.Inside().Put(key, value, done) }, done)
}

// Delete deletes a key of the object. done is called exactly once. Safe for concurrent use.
func (r Ref) Delete(key string, done func(error)) {
	r.e.with(nil, func(o *durableobject.Object) { o.Inside().Delete(key, done) }, done)
}

// DeleteAll deletes all that the object has stored, and its alarm, and evicts it. Its
// past stays. The error is a *RefusedError while the object is busy. done is called
// exactly once. Safe for concurrent use.
func (r Ref) DeleteAll(done func(error)) {
	r.e.with(nil, func(o *durableobject.Object) {
		if why := o.Busy(); why != "" {
			done(&RefusedError{why})
			return
		}
		o.Inside().DeleteAll(func(err error) {
			if err != nil {
				done(err)
				return
			}
			posted := o.Realm().Isolate().Engine.PostLoop(func() {
				o.Drop()
				done(nil)
			})
			if posted != nil {
				done(nil) // a closed loop has ended its objects
			}
		})
	}, done)
}
