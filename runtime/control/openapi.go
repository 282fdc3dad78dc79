package control

import (
	"reflect"
	"slices"
	"strings"
)

// failures are the statuses that any answer can have, with the codes of their errors.
var failures = []struct{ status, about string }{
	{"400", "bad_request: the body, the SQL or a parameter is wrong"},
	{"401", "forbidden: the token is missing or wrong"},
	{"403", "forbidden: the Host or Origin is not this listener's"},
	{"404", "not_found: no such endpoint, class, object or worker"},
	{"409", "refused, not_running, no_isolate, real_clock or failed: the message says why"},
	{"503", "busy: JavaScript has been computing for too long"},
}

// OpenAPI describes the API as an OpenAPI 3.1 document, ready to be written as
// JSON. It is made from the table that the listener serves from, and from the Go
// types of the bodies.
func OpenAPI() map[string]any {
	schemas := map[string]any{}
	paths := map[string]any{}
	for _, e := range (&Control{}).endpoints() {
		path, ok := paths[e.path].(map[string]any)
		if !ok {
			path = map[string]any{}
			paths[e.path] = path
		}
		path[strings.ToLower(e.method)] = e.operation(schemas)
	}
	schemaOf(reflect.TypeOf(Failure{}), schemas)
	return map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title":       "minido control API",
			"version":     "1",
			"description": "Looks at the Durable Objects of a running minido, and acts on them. docs/control.md describes it.",
		},
		"servers":  []any{map[string]any{"url": "http://127.0.0.1:{port}", "variables": map[string]any{"port": map[string]any{"default": "0", "description": "of the file *.minido-control"}}}},
		"security": []any{map[string]any{"token": []any{}}},
		"paths":    paths,
		"components": map[string]any{
			"schemas":         schemas,
			"securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}},
		},
	}
}

func (e endpoint) operation(schemas map[string]any) map[string]any {
	content := e.content
	if content == "" {
		content = "application/json"
	}
	answer := map[string]any{"type": "string", "format": "binary"}
	if e.answer != nil {
		answer = schemaOf(reflect.TypeOf(e.answer), schemas)
	}
	responses := map[string]any{"200": body(content, answer, map[string]any{"description": "done"})}
	for _, f := range failures {
		if e.public && f.status == "401" {
			continue
		}
		responses[f.status] = body("application/json", schemaOf(reflect.TypeOf(Failure{}), schemas), map[string]any{"description": f.about})
	}
	op := map[string]any{"operationId": e.id(), "summary": e.summary, "responses": responses}
	if e.ask != nil {
		op["requestBody"] = body("application/json", schemaOf(reflect.TypeOf(e.ask), schemas), map[string]any{"required": true})
	}
	if e.public {
		op["security"] = []any{}
	}
	var query []any
	for _, p := range e.query {
		query = append(query, map[string]any{"name": p.name, "in": "query", "description": p.about, "schema": map[string]any{"type": p.kind}})
	}
	if query != nil {
		op["parameters"] = query
	}
	return op
}

// id is the operation's name in clients that are generated: getClock.
func (e endpoint) id() string {
	id := strings.ToLower(e.method)
	for _, part := range strings.Split(strings.TrimPrefix(e.path, "/v1/"), "/") {
		id += strings.ToUpper(part[:1]) + part[1:]
	}
	return id
}

func body(content string, schema, in map[string]any) map[string]any {
	in["content"] = map[string]any{content: map[string]any{"schema": schema}}
	return in
}

// schemaOf is the JSON Schema of what encoding/json makes of a type. Named structs
// are added to schemas, and referred to.
func schemaOf(t reflect.Type, schemas map[string]any) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), schemas)
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem(), schemas)}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Interface:
		return map[string]any{} // any JSON value
	case reflect.Struct:
		if t.Name() == "" {
			return structSchema(t, schemas)
		}
		if _, known := schemas[t.Name()]; !known {
			schemas[t.Name()] = nil // it may refer to itself
			schemas[t.Name()] = structSchema(t, schemas)
		}
		return map[string]any{"$ref": "#/components/schemas/" + t.Name()}
	}
	panic("control: no JSON Schema of " + t.String())
}

func structSchema(t reflect.Type, schemas map[string]any) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" {
			continue // its own fields are visible, too
		}
		schema := schemaOf(f.Type, schemas)
		switch {
		case options == "omitempty" || throughPointer(t, f):
		case f.Type.Kind() == reflect.Pointer:
			schema = map[string]any{"anyOf": []any{schema, map[string]any{"type": "null"}}}
			fallthrough
		default:
			required = append(required, name)
		}
		properties[name] = schema
	}
	slices.Sort(required)
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// throughPointer reports whether a field comes from an embedded pointer, which may be nil.
func throughPointer(t reflect.Type, f reflect.StructField) bool {
	return len(f.Index) > 1 && t.Field(f.Index[0]).Type.Kind() == reflect.Pointer
}
