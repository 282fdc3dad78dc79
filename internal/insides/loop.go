package insides

import (
	"math/big"
	"reflect"
	"unsafe"

	"github.com/dop251/goja"

	"minido.dev/minido/internal/insides/written"
)

// goja's machine calls a method for each instruction, and each result of arithmetic is
// a number in memory of its own. So the instructions of programs that are compiled get
// tables of ours, whose method is a loop of ours over the program: it does the common
// case of common instructions by itself, keeps what is computed in registers as long as
// the next instruction needs it, and calls goja's method for everything else. The
// machine's state is goja's whenever goja's code runs, so either can go on where the
// other has stopped.

// opcode says what the loop does for an instruction; opOther has goja do it.
type opcode = uint32

const (
	opOther opcode = iota

	// What pushes a value.
	opLoadValue
	opLoadUndefined
	opLoadStack
	opLoadStackLex
	opLoadStack1
	opLoadStack1Lex
	opLoadStash
	opLoadStashLex

	// What makes a value of the two on the stack.
	opAdd
	opSub
	opMul
	opDiv
	opMod
	opAnd
	opOr
	opXor
	opSal
	opSar
	opShr
	opLess
	opLessEqual
	opGreater
	opGreaterEqual

	opEqual
	opNotEqual
	opStrictEqual
	opStrictNotEqual

	// What makes a value of that on the stack.
	opIncrement
	opDecrement
	opNegate
	opPlus
	opToNumber
	opBitNot
	opNot
	opTypeof

	opStoreStack
	opStoreStackP
	opStoreStackLex
	opStoreStackLexP
	opStoreStack1
	opStoreStack1P
	opStoreStack1Lex
	opStoreStack1LexP
	opInitStackP
	opInitStack1P
	opStoreStashLex
	opStoreStashLexP

	opJump
	opJumpIfNotP
	opJumpIfP
	opJumpIf
	opJumpIfNot
	opJumpOptional
	opJumpCoalesce

	opPop
	opDuplicate

	opGetProperty
	opGetLength
	opGetCallee
	opGetElement
	opSetElement
	opSetElementP
	opSetElementStrict
	opSetElementStrictP

	opCall
	opReturn
	opEnter
	opEnterBlock
	opLeaveBlock

	opcodes
)

// looped are the instructions that the loop knows, by goja's names.
var looped = [...]struct {
	name string
	kind reflect.Kind // of the instruction
	op   opcode
}{
	{"loadVal", reflect.Struct, opLoadValue}, {"_loadUndef", reflect.Struct, opLoadUndefined},
	{"loadStack", reflect.Int, opLoadStack}, {"loadStackLex", reflect.Int, opLoadStackLex},
	{"loadStack1", reflect.Int, opLoadStack1}, {"loadStack1Lex", reflect.Int, opLoadStack1Lex},
	{"loadStash", reflect.Uint32, opLoadStash}, {"loadStashLex", reflect.Uint32, opLoadStashLex},
	{"_add", reflect.Struct, opAdd}, {"_sub", reflect.Struct, opSub}, {"_mul", reflect.Struct, opMul}, {"_div", reflect.Struct, opDiv}, {"_mod", reflect.Struct, opMod},
	{"_and", reflect.Struct, opAnd}, {"_or", reflect.Struct, opOr}, {"_xor", reflect.Struct, opXor},
	{"_sal", reflect.Struct, opSal}, {"_sar", reflect.Struct, opSar}, {"_shr", reflect.Struct, opShr},
	{"_op_lt", reflect.Struct, opLess}, {"_op_lte", reflect.Struct, opLessEqual}, {"_op_gt", reflect.Struct, opGreater}, {"_op_gte", reflect.Struct, opGreaterEqual},
	{"_op_eq", reflect.Struct, opEqual}, {"_op_neq", reflect.Struct, opNotEqual}, {"_op_strict_eq", reflect.Struct, opStrictEqual}, {"_op_strict_neq", reflect.Struct, opStrictNotEqual},
	{"_inc", reflect.Struct, opIncrement}, {"_dec", reflect.Struct, opDecrement}, {"_neg", reflect.Struct, opNegate}, {"_plus", reflect.Struct, opPlus}, {"_toNumber", reflect.Struct, opToNumber},
	{"_bnot", reflect.Struct, opBitNot}, {"_not", reflect.Struct, opNot}, {"_typeof", reflect.Struct, opTypeof},
	{"storeStack", reflect.Int, opStoreStack}, {"storeStackP", reflect.Int, opStoreStackP}, {"storeStackLex", reflect.Int, opStoreStackLex}, {"storeStackLexP", reflect.Int, opStoreStackLexP},
	{"storeStack1", reflect.Int, opStoreStack1}, {"storeStack1P", reflect.Int, opStoreStack1P}, {"storeStack1Lex", reflect.Int, opStoreStack1Lex}, {"storeStack1LexP", reflect.Int, opStoreStack1LexP},
	{"initStackP", reflect.Int, opInitStackP}, {"initStack1P", reflect.Int, opInitStack1P},
	{"storeStashLex", reflect.Uint32, opStoreStashLex}, {"storeStashLexP", reflect.Uint32, opStoreStashLexP},
	{"jump", reflect.Int32, opJump}, {"jneP", reflect.Int32, opJumpIfNotP}, {"jeqP", reflect.Int32, opJumpIfP}, {"jeq", reflect.Int32, opJumpIf}, {"jne", reflect.Int32, opJumpIfNot},
	{"jopt", reflect.Int32, opJumpOptional}, {"jcoalesc", reflect.Int32, opJumpCoalesce},
	{"_pop", reflect.Struct, opPop}, {"_dup", reflect.Struct, opDuplicate},
	{"getProp", reflect.String, opGetProperty}, {"getPropCallee", reflect.String, opGetCallee},
	{"_getElem", reflect.Struct, opGetElement}, {"_setElem", reflect.Struct, opSetElement}, {"_setElemP", reflect.Struct, opSetElementP},
	{"_setElemStrict", reflect.Struct, opSetElementStrict}, {"_setElemStrictP", reflect.Struct, opSetElementStrictP},
	{"call", reflect.Uint32, opCall}, {"_ret", reflect.Struct, opReturn},
	{"enterFuncStashless", reflect.Pointer, opEnter}, {"enterBlock", reflect.Pointer, opEnterBlock}, {"leaveBlock", reflect.Pointer, opLeaveBlock},
}

// gojaMachine mirrors the beginning of goja's virtual machine.
type gojaMachine struct {
	r                             *goja.Runtime
	prg                           *goja.Program
	pc                            int
	stack                         []goja.Value
	sp, sb, args                  int
	stash                         *gojaStash
	privEnv                       unsafe.Pointer
	callStack                     []gojaContext
	iterStack, refStack, tryStack sliceHeader
	newTarget                     goja.Value
	result                        goja.Value
	maxCallStackSize              int
	stashAllocs                   int
	interrupted                   uint32
}

// gojaContext mirrors an active call.
type gojaContext struct {
	prg       *goja.Program
	stash     unsafe.Pointer
	privEnv   unsafe.Pointer
	newTarget goja.Value
	result    goja.Value
	pc, sb    int
	args      int
}

// gojaStash mirrors the beginning of what keeps the variables that functions share.
type gojaStash struct {
	values, extraArgs []goja.Value
	names             unsafe.Pointer
	obj               *goja.Object
	outer             *gojaStash
}

// gojaEnter mirrors the first instruction of a function whose variables are on the stack.
type gojaEnter struct{ stackSize, args uint32 }

// gojaEnterBlock and gojaLeaveBlock mirror those of a block.
type gojaEnterBlock struct {
	names                unsafe.Pointer
	stashSize, stackSize uint32
}

type gojaLeaveBlock struct {
	stackSize uint32
	popStash  bool
}

// loopTable is a method table of an instruction; op lies where goja's have padding.
type loopTable struct {
	_     unsafe.Pointer
	value unsafe.Pointer
	_     uint32
	op    opcode
	exec  uintptr
}

// loop is what the loop needs to know. Immutable after learn.
type loop struct {
	known     bool
	tables    map[unsafe.Pointer]*loopTable // ours by goja's
	length    *loopTable                    // of getProp "length"
	getter    unsafe.Pointer                // goja's table of getProp
	originals [opcodes]executing            // what does an instruction that the loop does not
	profiler  uintptr                       // in the machine
	programs  programWalk
	theirs    *Goja
	publish   func() // sets what the loop tells values apart by
}

// theLoop is written once, by learn, before any program is changed; so is what follows,
// by publish. The loop reads it at each step.
var (
	theLoop loop

	tabInteger, tabFloat, tabBoolean, tabNull, tabUndefined, tabObject, tabASCII, tabWide, tabBigInt, tabProperty unsafe.Pointer // of values
	tabPlain, tabArray, tabFunction, tabMethod, tabArrow, tabView                                                 unsafe.Pointer // of implementations
	views                                                                                                         [9]unsafe.Pointer
	valueTrue, valueFalse, valueUndefined                                                                         goja.Value
	typeNames                                                                                                     [6]goja.Value
)

// The names in typeNames.
const (
	typeNumber = iota
	typeString
	typeBoolean
	typeUndefined
	typeObject
	typeFunction
)

// The kinds of elements in views.
const (
	viewUint8 = iota
	viewUint8Clamped
	viewInt8
	viewUint16
	viewInt16
	viewUint32
	viewInt32
	viewFloat32
	viewFloat64
)

// gojaView mirrors a typed array.
type gojaView struct {
	baseObject     Object
	viewedArrayBuf unsafe.Pointer
	defaultCtor    *goja.Object
	length, offset int
	elemSize       int
	typedArray     words
}

// buffer is what the typed array is a view of.
func (v *gojaView) buffer() *gojaBuffer { return (*gojaBuffer)(v.viewedArrayBuf) }

// gojaBuffer mirrors an ArrayBuffer.
type gojaBuffer struct {
	baseObject Object
	detached   bool
	data       []byte
}

func (lp *loop) learn(l *look) {
	lp.theirs, lp.tables = TheGoja(), map[unsafe.Pointer]*loopTable{}
	lp.programs = programWalk{theirs: lp.theirs, places: map[unsafe.Pointer][]uintptr{}}
	plain := ThePlainLayout()
	if !l.Is("goja.Object.self", "known", lp.theirs.Known && plain.Known) {
		return
	}
	machine := l.Kind(reflect.TypeFor[goja.Runtime](), "vm", reflect.Pointer).Type
	l.beginning(reflect.TypeFor[gojaMachine](), machine)
	lp.profiler = l.Kind(machine, "profTracker", reflect.Pointer).Offset
	if !l.Known() {
		return
	}
	calls, _ := machine.Elem().FieldByName("callStack")
	stash, _ := machine.Elem().FieldByName("stash")
	if !l.Mirrors(reflect.TypeFor[gojaContext](), calls.Type.Elem()) {
		return
	}
	l.beginning(reflect.TypeFor[gojaStash](), stash.Type)
	program, err := goja.Compile("", written.LoopSamples, false)
	if !l.Is("an instruction", "compiled", err == nil) || !l.Known() {
		return
	}
	found := map[opcode]bool{}
	lp.programs.each(program, func(i *words) {
		t := lp.programs.typeOf(i)
		name := t.Name()
		if t.Kind() == reflect.Pointer {
			name = t.Elem().Name()
		}
		for _, in := range looped {
			if in.name != name || in.kind != t.Kind() || found[in.op] {
				continue
			}
			found[in.op] = true
			table := (*loopTable)(i.tab)
			if !l.Is("the method table of an instruction", "its type's, as internal/abi.ITab has it", table.value == typeWord(t) && table.op == 0) {
				return
			}
			switch in.op {
			case opEnter:
				l.Mirrors(reflect.TypeFor[gojaEnter](), t.Elem())
			case opEnterBlock:
				l.Mirrors(reflect.TypeFor[gojaEnterBlock](), t.Elem())
			case opLeaveBlock:
				l.Mirrors(reflect.TypeFor[gojaLeaveBlock](), t.Elem())
			}
			lp.originals[in.op] = methodOf(i.tab)
			ours := *table
			ours.op = in.op
			ours.exec = reflect.ValueOf(enterLoop).Pointer()
			lp.tables[i.tab] = &ours
			if in.op == opGetProperty {
				length := ours
				length.op = opGetLength
				lp.length, lp.getter, lp.originals[opGetLength] = &length, i.tab, lp.originals[in.op]
			}
		}
	})
	for _, in := range looped {
		l.Is("goja."+in.name, "an instruction, a "+in.kind.String(), found[in.op])
	}
	if !l.Known() {
		return
	}
	lp.learnValues(l, plain)
	lp.known = l.Known()
}

// learnValues learns what the loop tells values apart by.
func (lp *loop) learnValues(l *look, plain *Plain) {
	vm := goja.New()
	v, err := vm.RunString(`[typeof 1, typeof "", typeof true, typeof undefined, typeof null, typeof Object,
		function () {}, { m() {} }.m, () => {}, true, false,
		new Uint8Array(1), new Uint8ClampedArray(1), new Int8Array(1), new Uint16Array(1), new Int16Array(1), new Uint32Array(1), new Int32Array(1), new Float32Array(1), new Float64Array(1)]`)
	if !l.Is("values", "samples that run", err == nil) {
		return
	}
	items := plain.Array(v.(*goja.Object)).values
	self := func(i int) words { return mirrorOf(items[i].(*goja.Object)).self }
	for i, mirror := range []reflect.Type{reflect.TypeFor[gojaFunction](), reflect.TypeFor[gojaMethod](), reflect.TypeFor[gojaArrow](), reflect.TypeFor[gojaView]()} {
		t := implementationOf(items[[]int{6, 7, 8, 11}[i]].(*goja.Object))
		if !l.Is(t.String(), "a pointer", t.Kind() == reflect.Pointer) || !l.Mirrors(mirror, t.Elem()) {
			return
		}
	}
	buffer, _ := implementationOf(items[11].(*goja.Object)).Elem().FieldByName("viewedArrayBuf")
	if !l.Mirrors(reflect.TypeFor[gojaBuffer](), buffer.Type.Elem()) {
		return
	}
	var kinds [len(views)]unsafe.Pointer
	for i := range kinds {
		sample := (*gojaView)(self(11 + i).data)
		kinds[i] = sample.typedArray.tab
		l.Is("goja.typedArrayObject.typedArray", "its buffer's bytes", self(11+i).tab == self(11).tab && sample.typedArray.data == unsafe.Pointer(&sample.buffer().data))
	}
	long := vm.ToValue(big.NewInt(1))
	t := reflect.TypeOf(long)
	l.Is("goja.Value of a BigInt", "a pointer to a big.Int", t.Kind() == reflect.Pointer && t.Elem().ConvertibleTo(reflect.TypeFor[big.Int]()))
	lp.publish = func() {
		object, undefined := goja.Value(v.(*goja.Object)), goja.Undefined()
		copy(typeNames[:], items)
		tabFunction, tabMethod, tabArrow, tabView, views = self(6).tab, self(7).tab, self(8).tab, self(11).tab, kinds
		tabInteger, tabFloat, tabBoolean, tabNull = plain.integer, plain.float, plain.boolean, plain.null
		tabUndefined, tabObject, tabASCII, tabWide, tabProperty = wordsOf(&undefined).tab, wordsOf(&object).tab, plain.ascii, plain.wide, plain.property
		tabPlain, tabArray, tabBigInt = plain.object, plain.array, wordsOf(&long).tab
		valueTrue, valueFalse, valueUndefined = items[9], items[10], undefined
		for i := range smallIntegers {
			smallIntegers[i] = int64(i) - smallBelow
		}
	}
}

// beginning compares a mirror of the beginning of a struct with it, or with what a pointer
// points to.
func (l *look) beginning(mirror, original reflect.Type) {
	if original.Kind() == reflect.Pointer {
		original = original.Elem()
	}
	for i := range mirror.NumField() {
		m := mirror.Field(i)
		o, found := original.FieldByName(m.Name)
		as := m.Type.Kind().String()
		if m.Type.Name() == "Value" {
			as = "goja.Value"
		}
		l.Is(original.String()+"."+m.Name, as, found && m.Offset == o.Offset && m.Type.Size() == o.Type.Size() &&
			(m.Type == o.Type || m.Type.Kind() == o.Type.Kind() || m.Type.Kind() == reflect.UnsafePointer && (o.Type.Kind() == reflect.Pointer || o.Type.Kind() == reflect.Map) || m.Type == reflect.TypeFor[sliceHeader]() && o.Type.Kind() == reflect.Slice))
	}
}

// methodOf is the method of a table of instructions.
func methodOf(table unsafe.Pointer) executing {
	at := &(*loopTable)(table).exec // a func value points to where its code's address is
	return *(*executing)(unsafe.Pointer(&at))
}

// instrument has the loop do an instruction.
func (lp *loop) instrument(instruction *words) {
	ours := lp.tables[instruction.tab]
	if ours == nil {
		return
	}
	if instruction.tab == lp.getter && *(*string)(instruction.data) == "length" {
		ours = lp.length
	}
	instruction.tab = unsafe.Pointer(ours)
}

// enterLoop is the method of the instructions that the loop knows.
func enterLoop(instruction, machine unsafe.Pointer) {
	m := (*gojaMachine)(machine)
	if *(*unsafe.Pointer)(unsafe.Add(machine, theLoop.profiler)) != nil { // it looks at each instruction
		code := theLoop.programs.code(m.prg)
		theLoop.originals[(*loopTable)(code[m.pc].tab).op](instruction, machine)
		return
	}
	runLoop(m)
}
