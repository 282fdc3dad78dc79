package sqlite

import (
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"
)

// Attach opens another database file in the connection, as the schema name. The
// file is taken literally and must exist as long as the connection does. An
// authorizer and LimitAttached apply.
func (c *Conn) Attach(path, name string) error {
	// SQLite looks the connection's VFS up by its name, which nobody else needs.
	if rc := sqlite3.Xsqlite3_vfs_register(c.tls, c.vfs, 0); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("sqlite: attach %s: %w", path, c.errorOf(rc))
	}
	defer sqlite3.Xsqlite3_vfs_unregister(c.tls, c.vfs)
	st, _, err := c.Prepare("ATTACH ? AS ?", false)
	if err != nil {
		return fmt.Errorf("sqlite: attach %s: %w", path, err)
	}
	defer st.Finalize()
	for i, v := range []string{path, name} {
		if err := st.Bind(i+1, v); err != nil {
			return fmt.Errorf("sqlite: attach %s: %w", path, err)
		}
	}
	if _, err := st.Step(); err != nil {
		return fmt.Errorf("sqlite: attach %s: %w", path, err)
	}
	return nil
}
