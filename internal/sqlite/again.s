// What follows again.go: Go wants a file in assembly where functions have no bodies.
