package explorer

import (
	"encoding/json"
	"net/http"
	"strings"

	"minido.dev/minido/internal/lazyregexp"
)

// documented is one operation of the API's document. The ids and the names of the
// parameters are those of wrangler's document, so that clients generated from either
// fit; the texts are minido's.
type documented struct {
	method, path, id, summary string
	query                     []parameter
	body                      schema // nil for none
	result                    schema
}

type parameter struct {
	name string
	of   schema
}

type schema = map[string]any

func typed(name string) schema      { return schema{"type": name} }
func list(of schema) schema         { return schema{"type": "array", "items": of} }
func oneOf(values ...string) schema { return schema{"type": "string", "enum": values} }
func members(of map[string]any) schema {
	return schema{"type": "object", "properties": of}
}

// need is an object some of whose members are required.
func need(of map[string]any, names ...string) schema {
	s := members(of)
	s["required"] = names
	return s
}

var (
	text, number, truth, anything = typed("string"), typed("integer"), typed("boolean"), schema{}
	status                        = oneOf("queued", "running", "paused", "errored", "terminated", "complete", "waitingForPause", "waiting")
	moment                        = schema{"type": "string", "format": "date-time"}
	namespaceKV                   = members(schema{"id": text, "title": text})
	objectR2                      = members(schema{"key": text, "etag": text, "size": number, "last_modified": moment, "http_metadata": typed("object"), "custom_metadata": typed("object")})
	counts                        = schema{"type": "object", "additionalProperties": number}
	workflowOf                    = members(schema{"name": text, "class_name": text, "script_name": text})
	succeeded                     = members(schema{"success": truth})
	statement                     = need(schema{"sql": text, "params": list(anything)}, "sql")
	keys                          = list(text)
)

const (
	aNamespace = "/storage/kv/namespaces/{namespace_id}"
	anObject   = "/r2/buckets/{bucket_name}/objects/{object_key}"
	aWorkflow  = "/workflows/{workflow_name}"
	anInstance = aWorkflow + "/instances/{instance_id}"
)

var operations = []documented{
	{"get", "/storage/kv/namespaces", "workers-kv-namespace-list-namespaces", "The KV namespaces that bindings name.",
		[]parameter{{"order", oneOf("id", "title")}, {"direction", oneOf("asc", "desc")}}, nil, list(namespaceKV)},
	{"get", aNamespace + "/keys", "workers-kv-namespace-list-a-namespace'-s-keys", "Keys of a namespace, a page of them.",
		[]parameter{{"limit", number}, {"prefix", text}, {"cursor", text}}, nil, list(members(schema{"name": text, "expiration": number, "metadata": anything}))},
	{"get", aNamespace + "/values/{key_name}", "workers-kv-namespace-read-key-value-pair", "The value of a key, as its bytes.", nil, nil, nil},
	{"put", aNamespace + "/values/{key_name}", "workers-kv-namespace-write-key-value-pair-with-metadata", "Stores a value: the body, or the form fields value and metadata.",
		[]parameter{{"expiration", number}, {"expiration_ttl", number}}, anything, typed("object")},
	{"delete", aNamespace + "/values/{key_name}", "workers-kv-namespace-delete-key-value-pair", "Deletes a key.", nil, nil, typed("object")},
	{"put", aNamespace + "/bulk", "workers-kv-namespace-write-multiple-key-value-pairs", "Stores several values.", nil,
		list(need(schema{"key": text, "value": text, "base64": truth, "expiration": number, "expiration_ttl": number, "metadata": anything}, "key", "value")),
		members(schema{"successful_key_count": number, "unsuccessful_keys": keys})},
	{"post", aNamespace + "/bulk/delete", "workers-kv-namespace-delete-multiple-key-value-pairs", "Deletes several keys.", nil, keys, members(schema{"successful_key_count": number, "unsuccessful_keys": keys})},
	{"post", aNamespace + "/bulk/get", "workers-kv-namespace-get-multiple-key-value-pairs", "Several values.", nil, need(schema{"keys": keys}, "keys"), members(schema{"values": typed("object")})},
	{"get", "/d1/database", "d1-list-databases", "The D1 databases that bindings name.", []parameter{{"name", text}}, nil, list(members(schema{"name": text, "uuid": text, "version": text}))},
	{"post", "/d1/database/{database_id}/raw", "d1-raw-database-query", "Runs a statement, or several as a batch.", nil,
		members(schema{"sql": text, "params": list(anything), "batch": list(statement)}), list(members(schema{"success": truth, "results": members(schema{"columns": keys, "rows": list(list(anything))}), "meta": typed("object")}))},
	{"get", "/workers/durable_objects/namespaces", "durable-objects-namespace-list-namespaces", "The classes of Durable Objects that bindings name.", nil, nil,
		list(members(schema{"id": text, "name": text, "script": text, "class": text, "use_sqlite": truth}))},
	{"get", "/workers/durable_objects/namespaces/{id}/objects", "durable-objects-namespace-list-objects", "The objects of a class that have stored something.",
		[]parameter{{"limit", number}, {"cursor", text}}, nil, list(members(schema{"id": text, "name": text, "hasStoredData": truth}))},
	{"post", "/workers/durable_objects/namespaces/{namespace_id}/query", "durable-objects-namespace-query-sqlite", "Runs SQL in an object; several statements are one transaction.", nil,
		need(schema{"durable_object_id": text, "durable_object_name": text, "queries": list(statement)}, "queries"),
		list(members(schema{"columns": keys, "rows": list(list(anything)), "meta": members(schema{"rows_read": number, "rows_written": number})}))},
	{"get", "/r2/buckets", "r2-list-buckets", "The R2 buckets that bindings name.", nil, nil, members(schema{"buckets": list(members(schema{"name": text}))})},
	{"get", "/r2/buckets/{bucket_name}/objects", "r2-bucket-list-objects", "Objects of a bucket, a page of them.",
		[]parameter{{"per_page", number}, {"prefix", text}, {"delimiter", text}, {"cursor", text}}, nil, list(objectR2)},
	{"delete", "/r2/buckets/{bucket_name}/objects", "r2-bucket-delete-objects", "Deletes several objects.", nil, keys, list(members(schema{"key": text}))},
	{"get", anObject, "r2-bucket-get-object", "The bytes of an object; with the header cf-metadata-only: true what is known of it.", nil, nil, nil},
	{"put", anObject, "r2-bucket-put-object", "Stores an object.", nil, anything, members(schema{"key": text, "etag": text, "size": number, "version": text})},
	{"delete", anObject, "r2-bucket-delete-object", "Deletes an object.", nil, nil, members(schema{"key": text})},
	{"get", "/workflows", "workflows-list-workflows", "The Workflows that bindings name.", nil, nil, list(workflowOf)},
	{"get", aWorkflow, "workflows-get-workflow-details", "A Workflow, and how many of its instances are in each status.", nil, nil, members(schema{"name": text, "class_name": text, "script_name": text, "instances": counts})},
	{"delete", aWorkflow, "workflows-delete-workflow", "Deletes every instance of a Workflow.", nil, nil, members(schema{"status": text, "success": truth})},
	{"get", aWorkflow + "/instances", "workflows-list-instances", "Instances, the newest first.",
		[]parameter{{"page", number}, {"per_page", number}, {"status", status}, {"date_start", moment}, {"date_end", moment}}, nil, list(members(schema{"id": text, "status": status, "created_on": moment}))},
	{"post", aWorkflow + "/instances", "workflows-create-instance", "Makes an instance.", nil, members(schema{"id": text, "params": anything}), members(schema{"id": text})},
	{"post", aWorkflow + "/instances/batch/delete", "workflows-batch-delete-instances", "Deletes several instances.", nil, need(schema{"instances": keys}, "instances"),
		members(schema{"deleted": list(members(schema{"id": text})), "errors": list(members(schema{"id": text, "code": number, "message": text}))})},
	{"get", anInstance, "workflows-get-instance-details", "An instance with its steps and their attempts.", nil, nil,
		members(schema{"status": status, "params": anything, "queued": moment, "start": moment, "end": moment, "output": anything, "error": anything, "steps": list(typed("object")), "step_count": number})},
	{"delete", anInstance, "workflows-delete-instance", "Deletes an instance.", nil, nil, succeeded},
	{"patch", anInstance + "/status", "wor-change-status-workflow-instance", "Pauses, resumes, ends an instance, or begins it again.", nil,
		need(schema{"status": oneOf("pause", "resume", "terminate", "restart"), "from": need(schema{"name": text, "count": number, "type": oneOf("do", "sleep", "waitForEvent")}, "name")}, "status"),
		members(schema{"status": status, "timestamp": moment})},
	{"post", anInstance + "/events/{event_type}", "workflows-send-instance-event", "Sends an event, whose payload is the body.", nil, anything, succeeded},
	{"post", "/local/scheduled", "local-explorer-dispatch-scheduled", "Fires a cron trigger of a worker, by its name.", []parameter{{"worker", text}},
		need(schema{"cron": text, "scheduled_time": number}, "cron"), members(schema{"outcome": text, "noRetry": truth})},
	{"post", "/local/observability/query", "observability-query", "Runs one SELECT over what the workers did: the tables spans (trace_id, span_id, parent_id, service, name, kind, start_ms, duration_ms, outcome, error, attributes as JSONB, created_at) " +
		"and logs (trace_id, span_id, seq, ts_ms, level, message as JSON, operation, created_at).", nil, statement, members(schema{"columns": keys, "rows": list(list(anything))})},
	{"post", "/local/observability/clear", "observability-clear", "Forgets what the workers did.", nil, nil, succeeded},
	{"get", "/local/workers", "local-explorer-list-workers", "The workers that run, and what they bind.", nil, nil, list(typed("object"))},
}

var inPath = lazyregexp.New(`\{(\w+)\}`)

// document answers GET /api: the API as an OpenAPI 3.0 document.
func document() answer {
	paths := schema{}
	for _, o := range operations {
		params := []any{}
		for _, m := range inPath.FindAllStringSubmatch(o.path, -1) {
			params = append(params, schema{"name": m[1], "in": "path", "required": true, "schema": text})
		}
		for _, p := range o.query {
			params = append(params, schema{"name": p.name, "in": "query", "schema": p.of})
		}
		content := schema{"application/octet-stream": schema{"schema": schema{"type": "string", "format": "binary"}}}
		if o.result != nil {
			content = schema{"application/json": schema{"schema": schema{"allOf": []any{
				schema{"$ref": "#/components/schemas/envelope"}, members(schema{"result": o.result})}}}}
		}
		op := schema{"operationId": o.id, "summary": o.summary, "description": o.summary, "tags": []string{strings.Split(o.path, "/")[1]}, "parameters": params,
			"responses": schema{
				"200": schema{"description": "done", "content": content},
				"4XX": schema{"description": "refused", "content": schema{"application/json": schema{"schema": schema{"$ref": "#/components/schemas/failure"}}}},
			}}
		if o.body != nil {
			op["requestBody"] = schema{"required": true, "content": schema{"application/json": schema{"schema": o.body}}}
		}
		of, ok := paths[o.path].(schema)
		if !ok {
			of = schema{}
			paths[o.path] = of
		}
		of[o.method] = op
	}
	messages := list(members(schema{"code": number, "message": text}))
	b, err := json.Marshal(schema{
		"openapi": "3.0.3",
		"info": schema{"title": "Local Explorer API", "version": "0.0.1",
			"description": "What the bindings of the workers of a running minido store, in the form of wrangler's local explorer."},
		"servers": []any{schema{"description": "Local Explorer", "url": Path + "/api"}},
		"paths":   paths,
		"components": schema{"parameters": schema{}, "schemas": schema{
			"envelope": need(schema{"success": truth, "errors": messages, "messages": messages, "result_info": typed("object")}, "success", "errors", "messages"),
			"failure":  need(schema{"success": truth, "errors": messages, "messages": messages, "result": schema{"nullable": true}}, "success", "errors", "messages"),
		}},
	})
	return answer{status: http.StatusOK, header: [][2]string{{"Content-Type", "application/json"}}, body: b, err: err}
}
