package d1

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"minido.dev/minido/internal/sqlite"
	"minido.dev/minido/runtime/config"
)

// Migrations are the SQL files of a database, in wrangler's directory and table
// (wrangler: d1/migrations).
type Migrations struct {
	Dir   string // absolute
	Table string
}

// MigrationsOf are those that a binding's project has: by default the files of
// "migrations" beside the wrangler file, and the table d1_migrations.
//
// # Errors
//
// A migrations_pattern is refused: files of other places are not looked for.
func MigrationsOf(project *config.Project, b config.Binding) (Migrations, error) {
	if b.Param("migrations_pattern") != "" {
		return Migrations{}, fmt.Errorf("%s: migrations_pattern is not read by minido; put the files into migrations_dir", b.Where)
	}
	return Migrations{filepath.Join(project.Dir, filepath.FromSlash(cmp.Or(b.Param("migrations_dir"), "migrations"))),
		cmp.Or(b.Param("migrations_table"), "d1_migrations")}, nil
}

// Applied is one that the database has.
type Applied struct {
	Name string
	At   string
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Applied lists what the database has, in the order in which it came. It makes the
// table where it is missing.
func (m Migrations) Applied(d *Database) ([]Applied, error) {
	results, err := d.Run([]Query{
		{SQL: "CREATE TABLE IF NOT EXISTS " + quoted(m.Table) + `(
		id         INTEGER PRIMARY KEY AUTOINCREMENT,
		name       TEXT UNIQUE,
		applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
);`}, {SQL: "SELECT name, applied_at FROM " + quoted(m.Table) + " ORDER BY id"}}, false)
	if err != nil {
		return nil, err
	}
	var out []Applied
	for _, row := range results[1].Rows {
		out = append(out, Applied{fmt.Sprint(row[0]), fmt.Sprint(row[1])})
	}
	return out, nil
}

// Pending lists the names of the files that the database does not have, by the
// numbers that they begin with.
//
// # Errors
//
// fs.ErrNotExist if there is no such directory.
func (m Migrations) Pending(d *Database) ([]string, error) {
	applied, err := m.Applied(d)
	if err != nil {
		return nil, err
	}
	names, err := MigrationFiles(m.Dir)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(applied, func(a Applied) bool { return a.Name == name })
	}), nil
}

// MigrationFiles lists the names of the SQL files in a directory, by the numbers that
// they begin with.
//
// # Errors
//
// fs.ErrNotExist if there is no such directory.
func MigrationFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no migrations present at %s: %w", dir, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".sql") && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	SortMigrations(names)
	return names, nil
}

// SortMigrations sorts names of migration files by the numbers that they begin with.
func SortMigrations(names []string) {
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
}

// number is what a file's name begins with, as JavaScript's parseInt reads it; a
// name without one comes last.
func number(name string) int {
	digits := name[:len(name)-len(strings.TrimLeft(name, "0123456789"))]
	if n, err := strconv.Atoi(digits); err == nil {
		return n
	}
	return int(^uint(0) >> 1)
}

// Apply runs a file and notes its name, in one transaction.
func (m Migrations) Apply(d *Database, name string) error {
	text, err := os.ReadFile(filepath.Join(m.Dir, name))
	if err != nil {
		return err
	}
	queries := Script(string(text))
	queries = append(queries, Query{"INSERT INTO " + quoted(m.Table) + " (name) VALUES (?)", []any{name}})
	if _, err := d.Run(queries, false); err != nil {
		return fmt.Errorf("migration %s: %w", name, err)
	}
	return nil
}

// Script are the statements of a text. A BEGIN TRANSACTION and a COMMIT, as dumps
// have them, are left out: a script is one transaction.
func Script(text string) (queries []Query) {
	for _, sql := range sqlite.Split(strings.TrimPrefix(text, "\ufeff")) {
		switch strings.ToUpper(strings.TrimRight(sql, "; \t\r\n")) {
		case "BEGIN TRANSACTION", "BEGIN", "COMMIT":
			continue
		}
		queries = append(queries, Query{SQL: sql})
	}
	return queries
}
