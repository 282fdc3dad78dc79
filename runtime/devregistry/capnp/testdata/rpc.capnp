# The part of Cap'n Proto's rpc.capnp that this package speaks: names, ids and ordinals.
# `capnp compile -ocapnp` prints the offsets that the code uses.
@0xb312981b2552a250;
struct Message { union {
  unimplemented @0 :Message; abort @1 :Exception; bootstrap @8 :Bootstrap; call @2 :Call; return @3 :Return; finish @4 :Finish;
  resolve @5 :Resolve; release @6 :Release; disembargo @13 :Disembargo; obsoleteSave @7 :AnyPointer; obsoleteDelete @9 :AnyPointer;
  provide @10 :AnyPointer; accept @11 :AnyPointer; join @12 :AnyPointer; } }
struct Bootstrap { questionId @0 :UInt32; deprecatedObjectId @1 :AnyPointer; }
struct Call {
  questionId @0 :UInt32; target @1 :MessageTarget; interfaceId @2 :UInt64; methodId @3 :UInt16; allowThirdPartyTailCall @8 :Bool = false;
  noPromisePipelining @9 :Bool = false; onlyPromisePipeline @10 :Bool = false;
  params @4 :Payload;
  sendResultsTo :union { caller @5 :Void; yourself @6 :Void; thirdParty @7 :AnyPointer; }
}
struct Return {
  answerId @0 :UInt32; releaseParamCaps @1 :Bool = true; noFinishNeeded @8 :Bool = false;
  union { results @2 :Payload; exception @3 :Exception; canceled @4 :Void; resultsSentElsewhere @5 :Void; takeFromOtherQuestion @6 :UInt32; acceptFromThirdParty @7 :AnyPointer; }
}
struct Finish { questionId @0 :UInt32; releaseResultCaps @1 :Bool = true; requireEarlyCancellationWorkaround @2 :Bool = true; }
struct Resolve { promiseId @0 :UInt32; union { cap @1 :CapDescriptor; exception @2 :Exception; } }
struct Release { id @0 :UInt32; referenceCount @1 :UInt32; }
struct Disembargo { target @0 :MessageTarget; context :union { senderLoopback @1 :UInt32; receiverLoopback @2 :UInt32; accept @3 :Void; provide @4 :UInt32; } }
struct MessageTarget { union { importedCap @0 :UInt32; promisedAnswer @1 :PromisedAnswer; } }
struct Payload { content @0 :AnyPointer; capTable @1 :List(CapDescriptor); }
struct CapDescriptor {
  union { none @0 :Void; senderHosted @1 :UInt32; senderPromise @2 :UInt32; receiverHosted @3 :UInt32; receiverAnswer @4 :PromisedAnswer; thirdPartyHosted @5 :ThirdPartyCapDescriptor; }
  attachedFd @6 :UInt8 = 0xff;
}
struct PromisedAnswer { questionId @0 :UInt32; transform @1 :List(Op); struct Op { union { noop @0 :Void; getPointerField @1 :UInt16; } } }
struct ThirdPartyCapDescriptor { id @0 :AnyPointer; vineId @1 :UInt32; }
struct Exception { reason @0 :Text; type @3 :UInt16; obsoleteIsCallersFault @1 :Bool; obsoleteDurability @2 :UInt16; trace @4 :Text; details @5 :List(Detail);
  struct Detail { detailId @0 :UInt64; data @1 :Data; } }
