// Package capnp speaks Cap'n Proto's RPC protocol (rpc.capnp) over a connection to one
// peer: level 1, in the subset that workerd's debug port needs.
//
// It differs from a whole implementation in three points. Objects that answer (Server)
// never block, so that no call needs a goroutine. Answers carry only objects of this
// side, never the peer's own ones, so that no embargo arises. Fields are read and written by
// their offsets, which the schema compiler gave (testdata); there is no generated code.
package capnp
