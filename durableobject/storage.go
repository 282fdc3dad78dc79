package durableobject

import (
	"errors"
	"fmt"
	"sort"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/killpoint"
	"minido.dev/minido/runtime/clone"
	"minido.dev/minido/runtime/compat"
	"minido.dev/minido/runtime/engine"
	"minido.dev/minido/runtime/webidl"
	"minido.dev/minido/sqlstore"
)

// defineStorage makes DurableObjectStorage (workerd: api/actor-state.c++).
func (r *Realm) defineStorage() {
	async := func(name string, length int, fn func(o *Object, call goja.FunctionCall) goja.Value) engine.Method[*Object] {
		check := r.optionsCheck("DurableObjectStorage", name)
		return method(name, length, func(o *Object, call goja.FunctionCall) goja.Value {
			return r.promised(func() goja.Value {
				check(call)
				return fn(o, call)
			})
		})
	}
	checkDelete := r.deleteCheck("DurableObjectStorage")
	r.storage = engine.DefineClass(r.eng, engine.ClassDef[*Object]{
		Name: "DurableObjectStorage",
		Methods: []engine.Method[*Object]{
			async("get", 2, func(o *Object, c goja.FunctionCall) goja.Value {
				return o.storage.asyncGet(c, "DurableObjectStorage")
			}),
			async("put", 3, func(o *Object, c goja.FunctionCall) goja.Value {
				return o.storage.asyncPut(c, "DurableObjectStorage")
			}),
			method("delete", 2, func(o *Object, c goja.FunctionCall) goja.Value {
				checkDelete(c)
				return r.promised(func() goja.Value { return o.storage.asyncDelete(c, "DurableObjectStorage") })
			}),
			async("list", 1, func(o *Object, c goja.FunctionCall) goja.Value {
				return o.storage.asyncList(c, "DurableObjectStorage")
			}),
			async("deleteAll", 1, func(o *Object, c goja.FunctionCall) goja.Value { o.storage.deleteAll(); return goja.Undefined() }),
			async("getAlarm", 1, func(o *Object, c goja.FunctionCall) goja.Value { return o.storage.getAlarm() }),
			async("setAlarm", 2, func(o *Object, c goja.FunctionCall) goja.Value {
				o.storage.setAlarm(c.Argument(0), c.Argument(1))
				return goja.Undefined()
			}),
			async("deleteAlarm", 1, func(o *Object, c goja.FunctionCall) goja.Value {
				o.storage.deleteAlarm(c.Argument(0))
				return goja.Undefined()
			}),
			async("sync", 0, func(o *Object, c goja.FunctionCall) goja.Value {
				if o.storage.txns == 0 {
					o.commitNow()
					if err := o.store.Sync(); err != nil {
						o.failWith(err)
						panic(r.eng.Errors.FromGo(o.failure))
					}
				}
				return goja.Undefined()
			}),
			method("transaction", 1, func(o *Object, c goja.FunctionCall) goja.Value {
				if _, ok := c.Argument(1).(*goja.Object); !ok && !webidl.IsMissing(c.Argument(1)) && engine.IsCallable(c.Argument(0)) {
					return r.promised(func() goja.Value {
						r.iso.Platform.BadArgument("DurableObjectStorage", "transaction", 2, "TransactionOptions")
						return nil
					})
				}
				return o.storage.transaction(c.Argument(0))
			}),
			method("transactionSync", 1, func(o *Object, c goja.FunctionCall) goja.Value { return o.storage.transactionSync(c.Argument(0)) }),
			async("getCurrentBookmark", 0, func(o *Object, _ goja.FunctionCall) goja.Value { return o.storage.currentBookmark() }),
			async("getBookmarkForTime", 1, func(o *Object, c goja.FunctionCall) goja.Value { return o.storage.bookmarkForTime(c) }),
			async("onNextSessionRestoreBookmark", 1, func(o *Object, c goja.FunctionCall) goja.Value { return o.storage.restoreBookmark(c) }),
		},
	})
}

// optionsOf are the parameters of storage's methods that take options: which one, and the
// name of its type.
var optionsOf = map[string]struct {
	n   int
	typ string
}{
	"get": {2, "GetOptions"}, "put": {3, "PutOptions"}, "delete": {2, "PutOptions"}, "deleteAll": {1, "PutOptions"},
	"getAlarm": {1, "GetAlarmOptions"}, "setAlarm": {2, "SetAlarmOptions"}, "deleteAlarm": {1, "SetAlarmOptions"},
}

// deleteCheck gives what throws for the arguments of delete(), which rejects for nothing
// of them.
func (r *Realm) deleteCheck(class string) func(goja.FunctionCall) {
	options := r.optionsCheck(class, "delete")
	return func(c goja.FunctionCall) {
		r.need(c, 1, class, "delete", "string or Array")
		if _, isObject := c.Argument(0).(*goja.Object); !isObject {
			r.text(c.Argument(0))
		}
		options(c)
	}
}

// optionsCheck gives what throws workerd's TypeError for a method's options that are
// neither an object nor missing.
func (r *Realm) optionsCheck(class, method string) func(goja.FunctionCall) {
	options, takes := optionsOf[method]
	if !takes {
		return func(goja.FunctionCall) {}
	}
	return func(call goja.FunctionCall) {
		v := call.Argument(options.n - 1)
		if _, ok := v.(*goja.Object); ok || webidl.IsMissing(v) {
			return
		}
		if method == "setAlarm" {
			date(r.eng, call.Argument(0), method) // its error comes first
		}
		r.iso.Platform.BadArgument(class, method, options.n, options.typ)
	}
}

// encode clones a value for storage.
func (o *storage) encode(v goja.Value) []byte {
	b, err := o.realm.iso.Platform.Clone.Serialize(v, clone.Options{
		Mode: clone.Storage, EnhancedErrors: o.realm.compat(compat.EnhancedErrorSerialization), HostCallables: true,
	})
	if err != nil {
		o.realm.cloneError(err)
	}
	return b
}

func (r *Realm) cloneError(err error) {
	var ex *goja.Exception
	var dce *clone.DataCloneError
	switch {
	case errors.As(err, &ex):
		r.eng.Rethrow(err)
	case errors.As(err, &dce):
		panic(r.iso.Platform.NewDOMException("DataCloneError", dce.Message))
	case errors.Is(err, clone.ErrTooDeep):
		r.eng.Throw("RangeError", "%s", err)
	default:
		r.eng.Throw("Error", "%s", err)
	}
}

func (o *storage) decode(b []byte) goja.Value {
	v, err := o.realm.iso.Platform.Clone.Deserialize(b, clone.Options{Mode: clone.Storage})
	if err != nil {
		o.realm.cloneError(err)
	}
	return v
}

// value reads and decodes one key; nil if it is not there.
func (o *storage) value(key string) goja.Value {
	noted := o.realm.eng.Turns.Statement("get ", key)
	b, ok, err := o.db().Get(key)
	noted(nil, err)
	if err != nil {
		o.realm.storageError(err)
	}
	if !ok {
		return nil
	}
	return o.decode(b)
}

func (o *storage) asyncGet(c goja.FunctionCall, class string) goja.Value {
	r := o.realm
	r.need(c, 1, class, "get", "string or Array")
	key := c.Argument(0)
	if keys, many := r.keyList(key); many {
		sort.Strings(keys)
		m := r.newMap()
		for i, k := range keys {
			if i > 0 && keys[i-1] == k {
				continue
			}
			if v := o.value(k); v != nil {
				r.mapSet(m, k, v)
			}
		}
		return m
	}
	if v := o.value(r.text(key)); v != nil {
		return v
	}
	return goja.Undefined()
}

// text is the argument's string, as JavaScript converts it.
func (r *Realm) text(v goja.Value) string {
	if _, isSymbol := v.(*goja.Symbol); isSymbol {
		r.eng.Throw("TypeError", "Cannot convert a Symbol value to a string")
	}
	return v.String()
}

// need throws, with the reference's text, if an argument is missing; one that
// is there and undefined is another matter.
func (r *Realm) need(c goja.FunctionCall, n int, class, method, kind string) {
	if len(c.Arguments) < n {
		r.eng.Throw("TypeError", "Failed to execute '%s' on '%s': parameter %d is not of type '%s'.", method, class, n, kind)
	}
}

// keyList is the list of keys of get([...]) and delete([...]).
func (r *Realm) keyList(v goja.Value) (keys []string, many bool) {
	obj, ok := v.(*goja.Object)
	if !ok || obj.ClassName() != "Array" {
		return nil, false
	}
	r.vm.ForOf(obj, func(item goja.Value) bool {
		keys = append(keys, r.text(item))
		return true
	})
	return keys, true
}

func (o *storage) asyncPut(c goja.FunctionCall, class string) goja.Value {
	r := o.realm
	r.need(c, 1, class, "put", "string or object")
	key, value, options := c.Argument(0), c.Argument(1), c.Argument(2)
	if class == "DurableObjectTransaction" {
		options = goja.Undefined()
	}
	obj, isObject := key.(*goja.Object)
	if !isObject || obj.ClassName() == "Array" { // whose text is a key
		k := r.text(key)
		if goja.IsUndefined(value) {
			r.eng.Throw("TypeError", "put() called with undefined value.")
		}
		unconfirmed, b := allowsUnconfirmed(options), o.encode(value)
		o.unconfirmedIf(unconfirmed, func() { o.putBytes(k, b) })
		return goja.Undefined()
	}
	if _, options := value.(*goja.Object); !options && !webidl.IsMissing(value) {
		r.eng.Throw("TypeError", "put() may only be called with a single key-value pair and optional options as put(key, value, options) or with multiple key-value pairs and optional options as put(entries, options)")
	}
	// put({key: value, ...}): all or nothing, so everything is cloned first.
	keys := obj.Keys()
	values := make([][]byte, 0, len(keys))
	for _, k := range keys {
		v := obj.Get(k)
		if goja.IsUndefined(v) {
			values = append(values, nil)
			continue
		}
		values = append(values, o.encode(v))
	}
	o.unconfirmedIf(allowsUnconfirmed(value), func() {
		for i, k := range keys {
			if values[i] != nil {
				o.putBytes(k, values[i])
			}
		}
	})
	return goja.Undefined()
}

func (o *storage) put(key string, value goja.Value) { o.putBytes(key, o.encode(value)) }

func (o *storage) putBytes(key string, b []byte) {
	noted := o.realm.eng.Turns.Statement("put ", key)
	err := o.db().Put(key, b)
	noted(nil, err)
	if err != nil {
		o.realm.storageError(err)
	}
	o.realm.eng.Sites.Statement("put " + key)
	o.wrote()
}

func (o *storage) delete(key string) bool {
	noted := o.realm.eng.Turns.Statement("delete ", key)
	existed, err := o.db().Delete(key)
	noted(nil, err)
	if err != nil {
		o.realm.storageError(err)
	}
	o.realm.eng.Sites.Statement("delete " + key)
	o.wrote()
	return existed
}

func (o *storage) asyncDelete(c goja.FunctionCall, class string) goja.Value {
	r := o.realm
	r.need(c, 1, class, "delete", "string or Array")
	key, unconfirmed := c.Argument(0), allowsUnconfirmed(c.Argument(1))
	keys, many := r.keyList(key)
	if !many {
		keys = []string{r.text(key)}
	}
	n := 0
	o.unconfirmedIf(unconfirmed, func() {
		for _, k := range keys {
			if o.delete(k) {
				n++
			}
		}
	})
	if many {
		return r.vm.ToValue(n)
	}
	return r.vm.ToValue(n > 0)
}

func (o *storage) asyncList(c goja.FunctionCall, class string) goja.Value {
	r := o.realm
	m := r.newMap()
	o.each(r.listOptions(c.Argument(0), class), func(k string, v goja.Value) { r.mapSet(m, k, v) })
	return m
}

// listed says which keys a list is of.
func listed(opts sqlstore.ListOptions) string {
	if opts.Prefix == nil {
		return ""
	}
	return *opts.Prefix
}

func (o *storage) each(opts sqlstore.ListOptions, fn func(key string, v goja.Value)) {
	noted := o.realm.eng.Turns.Statement("list ", listed(opts))
	it, err := o.db().List(opts)
	noted(nil, err)
	if err != nil {
		o.realm.storageError(err)
	}
	defer it.Close()
	for {
		k, b, ok, err := it.Next()
		if err != nil {
			o.realm.storageError(err)
		}
		if !ok {
			return
		}
		fn(k, o.decode(b))
	}
}

func (r *Realm) listOptions(v goja.Value, class string) (o sqlstore.ListOptions) {
	if goja.IsUndefined(v) || goja.IsNull(v) {
		return o
	}
	obj, ok := v.(*goja.Object)
	if !ok {
		r.eng.Throw("TypeError", "Failed to execute 'list' on '%s': parameter 1 is not of type 'ListOptions'.", class)
	}
	text := func(name string) *string {
		v := obj.Get(name)
		if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
			return nil
		}
		s := r.text(v)
		return &s
	}
	o.Start, o.StartAfter, o.End, o.Prefix = text("start"), text("startAfter"), text("end"), text("prefix")
	if o.Start != nil && o.StartAfter != nil {
		r.eng.Throw("TypeError", "list() cannot be called with both start and startAfter values.")
	}
	if rev := obj.Get("reverse"); rev != nil {
		o.Reverse = rev.ToBoolean()
	}
	if l := obj.Get("limit"); l != nil && !goja.IsUndefined(l) {
		if o.Limit = int(l.ToInteger()); o.Limit <= 0 {
			r.eng.Throw("TypeError", "List limit must be positive.")
		}
	}
	return o
}

func (o *storage) deleteAll() {
	if o.storage.txns > 0 {
		o.realm.eng.Throw("Error", "Cannot call deleteAll() within a transaction")
	}
	keepAlarm := !o.realm.compat(compat.DeleteAllDeletesAlarm)
	o.alarm.loadAlarm()
	if before, _ := o.alarm.indexWrites(); keepAlarm && before != nil {
		// The alarm that is kept may be one that this turn has set, for earlier.
		if err := before(o.opts.Alarms, o.realm.eng.Cause()); err != nil {
			o.realm.storageError(fmt.Errorf("%w: %w", errIndex, err))
		}
	}
	hasFacets := o.opts.Facets != nil && o.opts.Facets.Any()
	err := o.realm.points.Effect(killpoint.Commit, o.opts.Label, o.realm.eng.Cause(), func() error {
		_, err := o.db().DeleteAll(sqlstore.DeleteAllOptions{KeepAlarm: keepAlarm, FacetsPending: hasFacets})
		return err
	})
	if errors.Is(err, killpoint.ErrCrashed) {
		o.Crash()
	}
	if err != nil {
		o.realm.storageError(err)
	}
	if !keepAlarm {
		o.alarm.changed, o.alarm.next, o.alarm.deferred = true, nil, false
	}
	if hasFacets {
		if err := o.store.Sync(); err != nil { // files must not be gone before the rows are
			o.realm.storageError(err)
		}
		o.facets.deleteAllFacets()
	}
	o.wrote()
}

func (r *Realm) newMap() *goja.Object {
	m, err := r.vm.New(r.eng.Primordial("Map"))
	if err != nil {
		r.eng.Rethrow(err)
	}
	return m
}

func (r *Realm) mapSet(m *goja.Object, key string, v goja.Value) {
	r.eng.Call(r.eng.Primordial("MapPrototypeSet"), goja.Undefined(), m, r.vm.ToValue(key), v)
}
