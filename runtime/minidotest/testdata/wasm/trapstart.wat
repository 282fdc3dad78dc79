(module (func $b unreachable) (start $b))
