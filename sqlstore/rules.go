package sqlstore

import (
	"strconv"
	"strings"

	"minido.dev/minido/internal/lazyregexp"
	"minido.dev/minido/internal/sqlite"
)

// rules decides what SQL may do. It is asked while statements are compiled:
// by exec, and by SQLite itself when a schema change makes it compile a cached
// statement anew. Loop-confined.
type rules struct {
	// user says that the statement is user code's; the store's own statements
	// may do everything.
	user bool
	// sql is the text being compiled, where it is known.
	sql string
	// pragma says that the statement being compiled has a PRAGMA in it.
	pragma bool
	// refusal replaces SQLite's error text for the statement being compiled.
	refusal string
	// absent names a function, absentTable a table, that workerd's SQLite does
	// not have.
	absent, absentTable string
}

// transactionHint is workerd's answer to BEGIN, COMMIT and SAVEPOINT.
const transactionHint = "To execute a transaction, please use the state.storage.transaction() or state.storage.transactionSync() APIs instead of the SQL BEGIN TRANSACTION or SAVEPOINT statements. The JavaScript API is safer because it will automatically roll back on exceptions, and because it interacts correctly with Durable Objects' automatic atomic write coalescing."

func (r *rules) authorize(a sqlite.Action) sqlite.Verdict {
	if !r.user || r.allowed(a) {
		return sqlite.Allow
	}
	return sqlite.Deny
}

// allowedName keeps the platform's tables from user code. SQLite compares
// names without regard to case, and so does this.
func allowedName(name string) bool {
	return len(name) < 4 || !strings.EqualFold(name[:4], "_cf_")
}

// allowed follows SqliteDatabase::isAuthorized of workerd's util/sqlite.c++;
// what that source leaves open was probed on the binary.
func (r *rules) allowed(a sqlite.Action) bool {
	if a.Code == sqlite.ActionAlterTable {
		// SQLite passes the database where other actions have the table.
		a.Database, a.Arg1 = a.Arg1, a.Arg2
		if renamesToPlatform.MatchString(r.sql) {
			return false
		}
	}
	switch a.Database {
	case "temp":
		// Temporary tables would be files outside the object's own.
		return (a.Code == sqlite.ActionRead || a.Code == sqlite.ActionUpdate) && allowedName(a.Arg1)
	case "", "main":
	default:
		return false
	}
	if name := strings.ToLower(a.Arg1); absentTables[name] && (a.Code == sqlite.ActionRead || a.Code == sqlite.ActionUpdate ||
		a.Code == sqlite.ActionInsert || a.Code == sqlite.ActionDelete) {
		r.absentTable = a.Arg1
		return false
	}
	switch a.Code {
	case sqlite.ActionSelect, sqlite.ActionRecursive, sqlite.ActionAnalyze:
		return true
	case sqlite.ActionCreateTable, sqlite.ActionDropTable, sqlite.ActionInsert, sqlite.ActionDelete,
		sqlite.ActionCreateView, sqlite.ActionDropView, sqlite.ActionReindex,
		sqlite.ActionAlterTable, sqlite.ActionRead, sqlite.ActionUpdate:
		return allowedName(a.Arg1)
	case sqlite.ActionCreateIndex, sqlite.ActionDropIndex, sqlite.ActionCreateTrigger, sqlite.ActionDropTrigger:
		return allowedName(a.Arg1) && allowedName(a.Arg2)
	case sqlite.ActionCreateVTable, sqlite.ActionDropVTable:
		return allowedName(a.Arg1) && allowedModules[strings.ToLower(a.Arg2)]
	case sqlite.ActionTransaction, sqlite.ActionSavepoint:
		r.refusal = transactionHint
		return false
	case sqlite.ActionPragma:
		r.pragma = true
		return allowedPragma(strings.ToLower(a.Arg1), a.Arg2, a.HasArg2)
	case sqlite.ActionFunction:
		return r.allowedFunction(a.Arg2)
	}
	// ATTACH, DETACH, everything temporary, and what a later SQLite may add.
	return false
}

// renamesToPlatform finds ALTER TABLE ... RENAME TO _cf_...: SQLite does not
// tell an authorizer the new name.
var renamesToPlatform = lazyregexp.New(`(?is)\brename(?:\s|/\*.*?\*/|--[^\n]*\n)+to(?:\s|/\*.*?\*/|--[^\n]*\n)*["'\[\x60]?_cf_`)

var allowedModules = map[string]bool{"fts5": true, "fts5vocab": true, "rtree": true, "rtree_i32": true}

// allowedPragma: which PRAGMAs user code may use, with which argument.
func allowedPragma(name, arg string, hasArg bool) bool {
	switch name {
	case "table_list":
		return true
	case "data_version", "page_size":
		// Full-text tables read these themselves.
		return !hasArg
	case "table_info", "table_xinfo", "foreign_key_list", "index_info", "index_list", "index_xinfo":
		return hasArg && allowedName(arg)
	case "foreign_key_check":
		return !hasArg || allowedName(arg)
	case "case_sensitive_like", "foreign_keys", "defer_foreign_keys", "ignore_check_constraints",
		"legacy_alter_table", "recursive_triggers", "reverse_unordered_selects":
		return !hasArg || isBoolean(arg)
	case "optimize":
		_, err := strconv.ParseInt(arg, 0, 32)
		return !hasArg || err == nil
	case "quick_check":
		return !hasArg || allowedName(arg)
	}
	return false
}

// isBoolean accepts what workerd takes for a boolean: one of SQLite's words,
// perhaps quoted, compared by its beginning.
func isBoolean(v string) bool {
	if n := len(v); n >= 2 && (v[0] == '\'' || v[0] == '"') && v[n-1] == v[0] {
		v = v[1 : n-1]
	}
	for _, w := range []string{"true", "false", "yes", "no", "on", "off", "1", "0"} {
		if len(v) >= len(w) && strings.EqualFold(v[:len(w)], w) {
			return true
		}
	}
	return false
}

func (r *rules) allowedFunction(name string) bool {
	name = strings.ToLower(name)
	if allowedFunctions[name] {
		return true
	}
	if absentFunctions[name] {
		r.absent = name
	}
	return false
}

// allowedFunctions are the functions that workerd lets user code call, probed
// one by one on the binary. "like", "glob" and "match" stand for the operators.
var allowedFunctions = set(`
	-> ->> abs acos acosh asin asinh atan atan2 atanh avg bm25 ceil changes char coalesce concat concat_ws cos cosh
	count cume_dist current_date current_time current_timestamp date datetime degrees dense_rank exp first_value floor
	format glob group_concat hex highlight ifnull iif instr json json_array json_array_length json_each json_extract
	json_group_array json_group_object json_insert json_object json_patch json_quote json_remove json_replace json_set
	json_tree json_type json_valid jsonb jsonb_array jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert
	jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set julianday lag last_insert_rowid last_value lead length
	like likelihood likely ln load_extension log log2 lower ltrim match max max_scalar min min_scalar mod nth_value ntile
	nullif octet_length percent_rank pi pow printf quote radians random randomblob rank replace round row_number
	rtreecheck rtrim sign sin sinh snippet sqlite_drop_column sqlite_rename_column sqlite_rename_quotefix
	sqlite_rename_table sqlite_rename_test sqrt strftime string_agg substr substring sum tan tanh time timediff total
	total_changes trim trunc typeof unhex unicode unixepoch unlikely upper zeroblob`)

// absentFunctions exist here but not in workerd's build of SQLite.
var absentFunctions = set(`
	geopoly_area geopoly_bbox geopoly_blob geopoly_ccw geopoly_contains_point geopoly_debug geopoly_group_bbox
	geopoly_json geopoly_overlap geopoly_regular geopoly_svg geopoly_within geopoly_xform soundex sqlite_offset`)

// absentTables exist here but not in workerd's build of SQLite; they would show
// the platform's pages.
var absentTables = set("dbstat sqlite_dbpage")

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
