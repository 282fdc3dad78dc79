(module (memory 1) (data (i32.const 65536) "x"))
