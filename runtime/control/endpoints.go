package control

import (
	"net/http"

	"minido.dev/minido/durableobject/pool"
)

// endpoint is one operation of the API: how it is served, and what the OpenAPI
// document says of it. ask and answer are values of the types that the bodies hold; nil
// is no body, and an answer of a content type of its own.
type endpoint struct {
	method, path string
	summary      string
	serve        http.HandlerFunc
	query        []parameter
	ask, answer  any
	content      string // of the answer, if it is not JSON
	public       bool   // needs no token
}

// parameter is one of a URL's query.
type parameter struct{ name, kind, about string }

// Objects is GET /v1/objects.
type Objects struct {
	Objects []Object `json:"objects"`
}

// Done is the answer of a verb: its name, or "armed".
type Done struct {
	Done string `json:"done"`
}

// endpoints are all operations, in the order of docs/control.md.
func (c *Control) endpoints() []endpoint {
	all := []endpoint{
		{method: "GET", path: "/v1/status", summary: "The server, its process and its worker.", serve: c.status, answer: Status{}},
		{method: "GET", path: "/v1/objects", summary: "Every object of every worker, in memory or stored.", serve: c.objects, answer: Objects{}},
	}
	verbs := []struct {
		verb    pool.Verb
		summary string
	}{
		{pool.Evict, "An idle object leaves memory; with force, a busy one too."},
		{pool.Hibernate, "An object leaves memory and its clients stay connected."},
		{pool.Reset, "What a deployment does to an object or an isolate."},
		{pool.Abort, "ctx.abort(reason) from outside."},
		{pool.Crash, "The machine dies under an object or an isolate; with at, when the object reaches an effect point."},
		{pool.FireAlarm, "Moves the alarm of an object to the present."},
	}
	for _, v := range verbs {
		all = append(all, endpoint{method: "POST", path: "/v1/" + string(v.verb), summary: v.summary,
			serve: func(w http.ResponseWriter, r *http.Request) { c.act(w, r, v.verb) }, ask: ActRequest{}, answer: Done{}})
	}
	return append(all,
		endpoint{method: "GET", path: "/v1/armed", summary: "The effect points that crashes wait for.", serve: c.armed, answer: Armed{}},
		endpoint{method: "POST", path: "/v1/disarm", summary: "Takes all armed crashes back.", serve: c.disarm, ask: struct{}{}, answer: Armed{}},
		endpoint{method: "GET", path: "/v1/clock", summary: "The time that workers see.", serve: c.now, answer: Clock{}},
		endpoint{method: "POST", path: "/v1/clock", summary: "Sets the mode of the clock.", serve: c.setMode, ask: ModeRequest{}, answer: Clock{}},
		endpoint{method: "POST", path: "/v1/clock/advance", summary: "Advances a clock of mode virtual or auto.", serve: c.advance, ask: AdvanceRequest{}, answer: Clock{}},
		endpoint{method: "POST", path: "/v1/sql", summary: "One statement that reads an object's database.", serve: c.sql, ask: QueryRequest{}, answer: QueryResult{}},
		endpoint{method: "POST", path: "/v1/export", summary: "A consistent copy of an object's database.", serve: c.export, ask: ExportRequest{}, content: "application/vnd.sqlite3"},
		endpoint{method: "POST", path: "/v1/execute", summary: "SQL that an object executes as an event of its own; several statements are one transaction.", serve: c.execute, ask: ExecuteRequest{}, answer: Executed{}},
		endpoint{method: "POST", path: "/v1/values", summary: "Keys of an object's key-value storage with their values, decoded.", serve: c.values, ask: ValuesRequest{}, answer: Values{}},
		endpoint{method: "POST", path: "/v1/values/put", summary: "Stores a value that is JSON under a key.", serve: c.putValue, ask: ValueRequest{}, answer: Done{}},
		endpoint{method: "POST", path: "/v1/values/delete", summary: "Deletes a key.", serve: c.deleteValue, ask: ValueRequest{}, answer: Done{}},
		endpoint{method: "POST", path: "/v1/delete", summary: "Deletes all that an idle object has stored, and its alarm; its past stays.", serve: c.deleteAll, ask: ObjectRequest{}, answer: Done{}},
		endpoint{method: "POST", path: "/v1/facets", summary: "The facets of an object that have databases, whether they run or not.", serve: c.storedFacets, ask: ObjectRequest{}, answer: StoredFacets{}},
		endpoint{method: "POST", path: "/v1/moments", summary: "The states of the past that an object can return to.", serve: c.moments, ask: PastRequest{}, answer: Moments{}},
		endpoint{method: "POST", path: "/v1/difference", summary: "What changed in an object's database between two of them.", serve: c.difference, ask: DifferenceRequest{}, answer: Difference{}},
		endpoint{method: "POST", path: "/v1/restore", summary: "Returns an idle object to one of them.", serve: c.restore, ask: RestoreRequest{}, answer: Restored{}},
		endpoint{method: "POST", path: "/v1/queue/pause", summary: "Pauses the delivery of a queue's messages.", serve: queueRoutes{c}.pause("pause"), ask: QueueRequest{}, answer: Done{}},
		endpoint{method: "POST", path: "/v1/queue/resume", summary: "Resumes it.", serve: queueRoutes{c}.pause("resume"), ask: QueueRequest{}, answer: Done{}},
		endpoint{method: "GET", path: "/v1/queues", summary: "The queues of the session, their consumers and what waits in them.", serve: queueRoutes{c}.queues, answer: Queues{}},
		endpoint{method: "POST", path: "/v1/queue/messages", summary: "Messages that wait in a queue.", serve: queueRoutes{c}.messages, ask: MessagesRequest{}, answer: Messages{}},
		endpoint{method: "POST", path: "/v1/queue/deliver", summary: "Makes a message due now.", serve: queueRoutes{c}.onMessage("deliver"), ask: MessageRequest{}, answer: Done{}},
		endpoint{method: "POST", path: "/v1/queue/remove", summary: "Deletes a message.", serve: queueRoutes{c}.onMessage("remove"), ask: MessageRequest{}, answer: Done{}},
		endpoint{method: "POST", path: "/v1/queue/purge", summary: "Deletes every message of a queue.", serve: queueRoutes{c}.pause("purge"), ask: QueueRequest{}, answer: Done{}},
		endpoint{method: "GET", path: "/v1/feed", summary: "What happens in the server: a line of JSON for each entry.", serve: c.follow, answer: FeedLine{}, content: "application/x-ndjson",
			query: []parameter{
				{"after", "integer", "Goes on behind the entry with this seq."},
				{"points", "boolean", "Adds effect points from now on."},
				{"turns", "boolean", "Adds turns with what they ask of storage, syncs and, if there are records, frames from now on."},
				{"records", "boolean", "Records exchanges and frames from now on, and adds the requests of workers."},
				{"follow", "boolean", "false ends the answer with what there is."},
			}},
		endpoint{method: "POST", path: "/v1/request", summary: "Sends a request to the worker and gives its response.", serve: c.request, ask: WorkerRequest{}, answer: WorkerResponse{}},
		endpoint{method: "POST", path: "/v1/record", summary: "An exchange that was recorded: headers, bodies, times, the frames of a socket.", serve: c.record, ask: RecordRequest{}, answer: Exchange{}},
		endpoint{method: "GET", path: "/v1/sockets", summary: "The WebSockets that are open, and the last ones that were.", serve: c.sockets, answer: Sockets{}},
		endpoint{method: "POST", path: "/v1/object/sockets", summary: "The hibernatable WebSockets of an object: tags and attachments.", serve: c.objectSockets, ask: ObjectRequest{}, answer: ObjectSockets{}},
		endpoint{method: "POST", path: "/v1/source", summary: "The source of a module of the worker.", serve: c.source, ask: SourceRequest{}, answer: Source{}},
		endpoint{method: "GET", path: "/v1/chaos", summary: "What chaos campaigns can be started, and how the last one does.", serve: c.chaos, answer: Chaos{},
			query: []parameter{{"after", "integer", "Lists the cases with a higher number only."}}},
		endpoint{method: "POST", path: "/v1/chaos/start", summary: "Starts a campaign on the project, with state of its own.", serve: c.startChaos, ask: CampaignRequest{}, answer: Chaos{}},
		endpoint{method: "POST", path: "/v1/chaos/stop", summary: "Asks the campaign to end.", serve: c.stopChaos, ask: struct{}{}, answer: Chaos{}},
		endpoint{method: "GET", path: "/v1/chaos/case", summary: "A case of the last campaign with its timeline.", serve: c.chaosCase, answer: CaseDetail{},
			query: []parameter{{"n", "integer", "Its number."}}},
		endpoint{method: "POST", path: "/v1/chaos/walk", summary: "Replays such a case in a simulation, and looks at it at each event.", serve: c.walkChaos, ask: WalkRequest{}, answer: Walk{}},
		endpoint{method: "POST", path: "/v1/dashboard", summary: "An address that opens the dashboard, once.", serve: c.ticket, ask: struct{}{}, answer: DashboardURL{}},
		endpoint{method: "POST", path: sessionPath, summary: "Exchanges the ticket of such an address for a token.", serve: c.session, ask: SessionRequest{}, answer: SessionToken{}, public: true},
	)
}
