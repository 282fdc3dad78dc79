(module (import "a" "b" (func $b)) (start $b))
