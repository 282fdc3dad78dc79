// Package config reads a Workers project: wrangler.json, wrangler.jsonc or
// wrangler.toml, together with .dev.vars, .env files and command-line
// variables, and turns them into one immutable Project.
//
// The work has four phases, each in its own files:
//
//	parse     jsonc.go, tomlfile.go  text → a tree of nodes that know where they stand
//	check     schema.go, schemas.go  the tree against wrangler's schema: unknown keys warn, wrong types are errors
//	select    environment.go         env.<name> over the top level, by wrangler's inheritance rules
//	decode    decode*.go, durable.go, vars.go  the checked tree → Project
//
// Everything that is said about a file is a Diagnostic with a file, a line and
// a column, because the text that a developer reads is part of the product.
//
// The behaviour follows wrangler 4.164 (its config-schema.json and the
// validation in workers-utils) and workerd 1.20261117 (the compatibility flag
// table). The package keeps no state: several projects can be loaded in one
// process, from any number of goroutines.
package config
