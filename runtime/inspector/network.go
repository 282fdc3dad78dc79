package inspector

import (
	"encoding/base64"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"minido.dev/minido/internal/sched"
	"minido.dev/minido/runtime/event"
	"minido.dev/minido/runtime/feed"
)

// maxWaiting is how many events of the network wait for a client.
const maxWaiting = 1024

// network tells of exchanges from now on: those of clients with the worker, and those
// that the worker begins.
func (c *client) network(ask call) {
	if c.x.opts.Recorder == nil {
		c.refuse(ask, "minido: Network.enable: nothing is recorded with --no-record")
		return
	}
	c.mu.Lock()
	if c.unwatch == nil {
		// Who is told stands on the loops of workers: a client that does not read must not
		// hold them up, and misses events.
		type happened struct {
			stage  feed.Stage
			record feed.Record
		}
		waiting, over := make(chan happened, maxWaiting), make(chan struct{})
		stop := c.x.opts.Recorder.Watch(func(s feed.Stage, r feed.Record) {
			select {
			case waiting <- happened{s, r}:
			default:
			}
		})
		c.unwatch = sync.OnceFunc(func() { stop(); close(over) })
		sched.Attend(c.x.opts.Scheduler, "inspector network", func() {
			for {
				select {
				case h := <-waiting:
					c.exchanged(h.stage, h.record)
				case <-over:
					return
				case <-c.x.closing:
					return
				}
			}
		})
	}
	c.mu.Unlock()
	c.reply(ask, object{})
}

func (c *client) noNetwork() {
	c.mu.Lock()
	stop := c.unwatch
	c.unwatch = nil
	c.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// exchanged tells of a stage of an exchange.
func (c *client) exchanged(s feed.Stage, r feed.Record) {
	id := strconv.FormatInt(r.ID, 10)
	at := func(us int64) float64 { return float64(r.AtMs)/1000 + float64(us)/1e6 }
	kind := "Fetch"
	if r.Socket != nil {
		kind = "WebSocket"
	} else if !r.Out {
		kind = "Document"
	}
	switch s {
	case feed.Began:
		request := object{"url": r.URL, "method": r.Method, "headers": headers(r.Header), "initialPriority": "High", "referrerPolicy": "no-referrer", "hasPostData": r.Method != "GET" && r.Method != "HEAD"}
		c.event("Network.requestWillBeSent", object{"requestId": id, "loaderId": id, "documentURL": r.URL, "request": request, "timestamp": at(0), "wallTime": at(0),
			"initiator": object{"type": "other"}, "redirectHasExtraInfo": false, "type": kind})
	case feed.Answered:
		if r.Status == 0 {
			return
		}
		mime, _, _ := strings.Cut(r.ResponseHeader.Get("Content-Type"), ";")
		response := object{"url": r.URL, "status": r.Status, "statusText": "", "headers": headers(r.ResponseHeader), "mimeType": mime, "charset": "", "connectionReused": false, "connectionId": 0,
			"encodedDataLength": 0, "securityState": "neutral"}
		c.event("Network.responseReceived", object{"requestId": id, "loaderId": id, "timestamp": at(r.HeadUs), "type": kind, "response": response, "hasExtraInfo": false})
	case feed.Ended:
		if r.Failure != "" {
			c.event("Network.loadingFailed", object{"requestId": id, "timestamp": at(r.EndUs), "type": kind, "errorText": r.Failure})
			return
		}
		if n := r.Response.Total; n > 0 {
			c.event("Network.dataReceived", object{"requestId": id, "timestamp": at(r.EndUs), "dataLength": n, "encodedDataLength": n})
		}
		c.event("Network.loadingFinished", object{"requestId": id, "timestamp": at(r.EndUs), "encodedDataLength": r.Response.Total})
	}
}

func headers(h event.Header) map[string]string {
	out := map[string]string{}
	for _, f := range h {
		if had, ok := out[f.Name]; ok {
			out[f.Name] = had + "\n" + f.Value // how the protocol writes several values
		} else {
			out[f.Name] = f.Value
		}
	}
	return out
}

// body answers with what was kept of a body.
func (c *client) body(ask call) {
	var p struct {
		ID string `json:"requestId"`
	}
	if !c.parameters(ask, &p) {
		return
	}
	id, err := strconv.ParseInt(p.ID, 10, 64)
	r, ok := c.x.opts.Recorder.Find(id)
	if err != nil || !ok {
		c.refuse(ask, "No resource with given identifier found") // the reference's text
		return
	}
	kept := r.Response
	if ask.Method == "Network.getRequestPostData" {
		kept = r.Body
	}
	if int64(len(kept.Data)) < kept.Total {
		c.refuse(ask, "minido: "+ask.Method+": the body has "+strconv.FormatInt(kept.Total, 10)+" bytes, of which "+strconv.Itoa(len(kept.Data))+" are kept")
		return
	}
	text, isText := string(kept.Data), utf8.Valid(kept.Data)
	if !isText {
		text = base64.StdEncoding.EncodeToString(kept.Data)
	}
	if ask.Method == "Network.getRequestPostData" {
		c.reply(ask, object{"postData": text, "base64Encoded": !isText})
		return
	}
	c.reply(ask, object{"body": text, "base64Encoded": !isText})
}
