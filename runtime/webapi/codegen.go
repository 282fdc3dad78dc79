package webapi

// codeGeneration is V8's message where code is made from strings.
const codeGeneration = "Code generation from strings disallowed for this context"
