package clone

// The version of the wire format that is written, and the newest and oldest that are
// read. Version 16, in which workerd writes the props of entrypoints, differs only in buffers of more than
// 4 GiB; those before 9 need the stack machine of format version 0.
const (
	latestVersion = 15
	newestVersion = 16
	oldestVersion = 9
)

// Tags of V8's wire format (SerializationTag in value-serializer.cc).
const (
	tagVersion           = 0xFF
	tagPadding           = 0
	tagVerifyObjectCount = '?'
	tagTheHole           = '-'
	tagUndefined         = '_'
	tagNull              = '0'
	tagTrue              = 'T'
	tagFalse             = 'F'
	tagInt32             = 'I'
	tagUint32            = 'U'
	tagDouble            = 'N'
	tagBigInt            = 'Z'
	tagUtf8String        = 'S'
	tagOneByteString     = '"'
	tagTwoByteString     = 'c'
	tagObjectReference   = '^'
	tagBeginObject       = 'o'
	tagEndObject         = '{'
	tagBeginSparseArray  = 'a'
	tagEndSparseArray    = '@'
	tagBeginDenseArray   = 'A'
	tagEndDenseArray     = '$'
	tagDate              = 'D'
	tagTrueObject        = 'y'
	tagFalseObject       = 'x'
	tagNumberObject      = 'n'
	tagBigIntObject      = 'z'
	tagStringObject      = 's'
	tagRegExp            = 'R'
	tagBeginMap          = ';'
	tagEndMap            = ':'
	tagBeginSet          = '\''
	tagEndSet            = ','
	tagArrayBuffer       = 'B'
	tagResizableBuffer   = '~'
	tagBufferTransfer    = 't'
	tagBufferView        = 'V'
	tagSharedBuffer      = 'u'
	tagSharedObject      = 'p'
	tagWasmModule        = 'w'
	tagWasmMemory        = 'm'
	tagHostObject        = '\\'
	tagError             = 'r'
)

// Sub-tags of tagError.
const (
	errorEval      = 'E'
	errorRange     = 'R'
	errorReference = 'F'
	errorSyntax    = 'S'
	errorType      = 'T'
	errorURI       = 'U'
	errorMessage   = 'm'
	errorCause     = 'c'
	errorStack     = 's'
	errorEnd       = '.'
)

// viewType is one kind of ArrayBuffer view.
type viewType struct {
	tag  byte
	name string // the constructor's name
	size int    // bytes per element
}

// viewTypes lists the views. A bare goja lacks Float16Array, which the engine adds.
var viewTypes = [...]viewType{
	{'b', "Int8Array", 1},
	{'B', "Uint8Array", 1},
	{'C', "Uint8ClampedArray", 1},
	{'w', "Int16Array", 2},
	{'W', "Uint16Array", 2},
	{'d', "Int32Array", 4},
	{'D', "Uint32Array", 4},
	{'f', "Float32Array", 4},
	{'F', "Float64Array", 8},
	{'q', "BigInt64Array", 8},
	{'Q', "BigUint64Array", 8},
	{tagDataView, "DataView", 1},
	{'h', "Float16Array", 2},
}

// The flags of a view (format version 14 and later): it follows its buffer's
// length, and that is resizable.
const (
	viewLengthTracking = 1
	viewOfResizable    = 2
)

const tagDataView = '?'

// regExpFlags pairs the letters of a regular expression's flags with V8's bits
// (JSRegExp::Flag), in the order in which the flags property lists them.
var regExpFlags = [...]struct {
	letter byte
	bit    uint32
	getter string
}{
	{'d', 128, "hasIndices"},
	{'g', 1, "global"},
	{'i', 2, "ignoreCase"},
	{'m', 4, "multiline"},
	{'s', 32, "dotAll"},
	{'u', 16, "unicode"},
	{'v', 256, "unicodeSets"},
	{'y', 8, "sticky"},
}

// HostTag numbers a kind of host object: enum SerializationTag of workerd's
// src/workerd/io/worker-interface.capnp. The numbers are part of stored data.
type HostTag uint32

// The host objects that workerd knows.
const (
	HostInvalid        HostTag = 0
	HostRpcStub        HostTag = 1
	HostWritableStream HostTag = 2
	HostReadableStream HostTag = 3
	HostHeaders        HostTag = 4
	HostRequest        HostTag = 5
	HostResponse       HostTag = 6
	// HostDOMExceptionV1 is message and name, each length-delimited, then a
	// value: the error that bears the stack. It is only read.
	HostDOMExceptionV1 HostTag = 7
	// HostDOMException is name, message and stack, each length-delimited (UTF-8).
	HostDOMException HostTag = 8
	HostAbortSignal  HostTag = 9
	// HostNativeError is handled by this package itself (Options.EnhancedErrors).
	HostNativeError    HostTag = 10
	HostServiceStub    HostTag = 11
	HostActorClass     HostTag = 12
	HostR2Bucket       HostTag = 13
	HostKVNamespace    HostTag = 14
	HostBlob           HostTag = 15
	HostSocket         HostTag = 16
	HostWrappedBinding HostTag = 17
)

var hostTagNames = [...]string{
	"invalid", "jsRpcStub", "writableStream", "readableStream", "headers", "request", "response",
	"domException", "domExceptionV2", "abortSignal", "nativeError", "serviceStub", "actorClass",
	"r2Bucket", "kvNamespace", "blob", "socket", "wrappedBinding",
}

// String returns workerd's name of the tag, or "unknown".
func (t HostTag) String() string {
	if int(t) < len(hostTagNames) {
		return hostTagNames[t]
	}
	return "unknown"
}
