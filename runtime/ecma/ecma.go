// Package ecma makes goja's language behave like V8's: ECMAScript as a worker sees it
// in workerd, with its results, refusals and texts. Each sub-package is one part of
// the language and amends goja's built-ins in place:
//
//   - builtin: how built-ins are amended, conversions, kinds and limits of values, and
//     how V8's messages show a value;
//   - errortext: V8's texts of errors and names in stacks;
//   - json, date, array, number: JSON, Date, Array (and sort), Number, Math and BigInt;
//   - buffers: ArrayBuffers that can be resized, shared or kept, and views of them.
//
// RegExp (regexp), Intl (intl) and what needs a whole realm (lang) are made with
// package webidl, above this one.
//
// This package puts them together, and holds what is in none of them: the order of
// conversions of arguments, bounds of calls, what functions show as their source,
// symbols as weak keys, and built-ins that goja lacks (builtins.js).
//
// Everything is loop-confined.
package ecma

import (
	"minido.dev/minido/runtime/ecma/array"
	"minido.dev/minido/runtime/ecma/buffers"
	"minido.dev/minido/runtime/ecma/builtin"
	"minido.dev/minido/runtime/ecma/date"
	"minido.dev/minido/runtime/ecma/errortext"
	"minido.dev/minido/runtime/ecma/json"
	"minido.dev/minido/runtime/ecma/number"
	"minido.dev/minido/runtime/engine"
)

// New is engine.New with this language.
func New(o engine.Options) *engine.Engine {
	o.Language = Language{}
	return engine.New(o)
}

// Language implements engine.Language. Immutable.
type Language struct{}

// Prepare implements engine.Language.
func (Language) Prepare(e *engine.Engine) {
	json.Install(e)
	installWeakKeys(e)
}

// Install implements engine.Language.
func (Language) Install(e *engine.Engine) {
	builtin.KeepShown(e)
	guardStrings(e)
	array.GuardSizes(e)
	buffers.GuardConstructors(e)
	buffers.GuardCreation(e)
	guardCalls(e)
	number.GuardBigInt(e)
	number.Install(e)
	guardPrototypes(e)
	array.Install(e)
	array.InstallTypedSorts(e)
	hideSlots(e)
	errortext.InstallTexts(e)
	errortext.InstallStacks(e)
	date.Install(e)
	number.InstallMath(e)
	installSources(e)
	installBuiltins(e)
	installCoercions(e)
}
