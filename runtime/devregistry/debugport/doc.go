// Package debugport speaks to workerd's debug port (workerd serve --debug-port), and is
// one for workerd: wrangler's dev sessions call each other's workers through theirs
// (workerd: src/workerd/io/worker-interface.capnp, WorkerdDebugPort; Cap'n Proto:
// compat/http-over-capnp.capnp, compat/byte-stream.capnp).
package debugport

import "minido.dev/minido/runtime/devregistry/capnp"

// The methods that are called or answered.
var (
	getEntrypoint  = capnp.Method{Interface: 0xea5b0b487aea7327, Number: 0} // WorkerdDebugPort
	getActor       = capnp.Method{Interface: 0xea5b0b487aea7327, Number: 1}
	startEvent     = capnp.Method{Interface: 0x878048cda334ade3, Number: 0} // WorkerdBootstrap
	getHTTPService = capnp.Method{Interface: eventDispatcher, Number: 0}
	jsRPCSession   = capnp.Method{Interface: eventDispatcher, Number: 9}

	request        = capnp.Method{Interface: 0x92963bfdad2beb6a, Number: 1} // HttpService
	startResponse  = capnp.Method{Interface: 0xea3256705c0b63ba, Number: 0} // HttpService.ClientRequestContext
	startWebSocket = capnp.Method{Interface: 0xea3256705c0b63ba, Number: 1}
	sendText       = capnp.Method{Interface: 0xb09c33a9f4caa823, Number: 0} // WebSocket
	sendData       = capnp.Method{Interface: 0xb09c33a9f4caa823, Number: 1}
	closeSocket    = capnp.Method{Interface: 0xb09c33a9f4caa823, Number: 2}

	write        = capnp.Method{Interface: 0xd2e7d8a0dc0a9766, Number: 0} // ByteStream
	end          = capnp.Method{Interface: 0xd2e7d8a0dc0a9766, Number: 1}
	getSubstream = capnp.Method{Interface: 0xd2e7d8a0dc0a9766, Number: 2}
	ended        = capnp.Method{Interface: 0xb23c0a13cf65c36e, Number: 0} // ByteStream.SubstreamCallback
	reachedLimit = capnp.Method{Interface: 0xb23c0a13cf65c36e, Number: 1}

	callTarget     = capnp.Method{Interface: 0xa1a96525142a9d98, Number: 0} // JsRpcTarget
	pushByteStream = capnp.Method{Interface: 0xee2eb0d2e1aad430, Number: 0} // JsValue.ExternalPusher
)

const eventDispatcher = 0xf20697475ec1752d
