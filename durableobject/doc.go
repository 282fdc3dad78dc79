// Package durableobject is one durable object in memory: its ctx, its gates,
// its storage API, its hibernatable sockets and its facets. Which objects are
// in memory, and for how long, is package pool's business.
//
// An Object is one incarnation. It is loop-confined to the isolate that runs
// its class: events are delivered on the loop, between turns. What outlives
// an incarnation (the SQLite file, the sockets, the alarm index) is handed in.
package durableobject
