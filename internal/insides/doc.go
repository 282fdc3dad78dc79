// Package insides is the one place that looks into goja and into Go's maps.
//
// goja's interface is too narrow for some of what a worker can see: the texts of
// errors, a stack overflow that code can catch, an interrupt of native functions,
// views of resizable buffers. For other things it is too slow: JSON. What is looked
// at is found by name and type, through reflection, when it is needed first, and
// compared with what is expected, field by field. Where it differs, that part is
// not known, and its users take the way through goja's interface.
package insides
