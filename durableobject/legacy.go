package durableobject

import "github.com/dop251/goja"

// What an object says whose class has the storage of before SQLite: it is declared in
// new_classes, or nowhere. Its files are the same here and in the reference, which
// refuses these APIs as production does (workerd: api/sql.c++, api/sync-kv.c++,
// io/actor-sqlite.c++).
const (
	legacySQL = "SQL is not enabled for this Durable Object class. To enable it, change `new_classes` to `new_sqlite_classes` within the 'migrations' field in your wrangler.jsonc or wrangler.toml file. " +
		"If using workerd directly,set `enableSql = true` in your workerd config for the class. Note that this change cannot be made after the class is already deployed to production."
	legacyKV = "The storage.kv (synchronous KV) API is only available for SQLite-backed Durable Objects, but this object's namespace is not declared to use SQLite. " +
		"You can use the older, asyncronous interface via methods of `storage` itself (e.g. `storage.get()`). " +
		"Alternatively, to enable SQLite, change `new_classes` to `new_sqlite_classes` within the 'migrations' field in your wrangler.jsonc or wrangler.toml file. " +
		"If using workerd directly, set `enableSql = true` in your workerd config for the class. Note that this change cannot be made after the class is already deployed to production."
	legacyPast = "This Durable Object's storage back-end does not implement point-in-time recovery."

	// legacyBookmark is what getCurrentBookmark() says of such a storage.
	legacyBookmark = "00000000-00000000-00000000-00000000000000000000000000000000"
)

// isLegacy reports whether o's class has the storage of before SQLite. A facet, whose
// class its parent chooses, never has.
func isLegacy(o *Object) bool { return o.opts.Parent == nil && o.realm.legacy(o.opts.Class) }

// needSQLite throws text if o's class has the storage of before SQLite.
func needSQLite(o *Object, text string) {
	if isLegacy(o) {
		o.realm.eng.Throw("Error", "%s", text)
	}
}

// needsSQLite is fn for objects whose class has SQLite; others throw text.
func needsSQLite[T interface{ object() *Object }](text string, fn func(T, goja.FunctionCall) goja.Value) func(T, goja.FunctionCall) goja.Value {
	return func(self T, c goja.FunctionCall) goja.Value {
		needSQLite(self.object(), text)
		return fn(self, c)
	}
}
