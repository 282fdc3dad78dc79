(module
  (import "e" "js" (func $js (param i32)))
  (import "e" "get" (func $get (param i32) (result i32)))
  (import "e" "tag" (tag $in (param i32 i64)))
  (import "e" "jstag" (tag $jstag (param externref)))
  (tag $own (export "own") (param i32))
  (tag $none (export "none"))
  (memory (export "memory") 1)
  (table funcref (elem $thrower))
  (type $t (func (param i32)))
  (func $log (param i32) i32.const 0 i32.const 0 i32.load i32.const 10 i32.mul local.get 0 i32.add i32.store)
  (func $thrower (param i32)
    local.get 0 i32.eqz if throw $none end
    local.get 0 i32.const 1 i32.eq if local.get 0 throw $own end
    local.get 0 i32.const 2 i32.eq if local.get 0 i64.const 77 throw $in end
    local.get 0 i32.const 3 i32.ge_s if local.get 0 call $js end)
  (func (export "throw") (param i32) local.get 0 call $thrower)
  ;; which handler takes it
  (func (export "which") (param i32) (result i32)
    try (result i32)
      local.get 0 call $thrower i32.const 100
    catch $own
      i32.const 1000 i32.add
    catch $in
      i32.wrap_i64 i32.add
    catch $none
      i32.const -1
    catch_all
      i32.const -2
    end)
  ;; not taken: goes on to the caller, with a cleanup on its way
  (func $cleanup (param i32)
    try
      try
        local.get 0 call $thrower
      catch_all
        i32.const 1 call $log
        rethrow 0
      end
    catch $own
      drop i32.const 2 call $log
    end
    i32.const 3 call $log)
  (func (export "cleanup") (param i32) (result i32)
    i32.const 0 i32.const 0 i32.store
    try local.get 0 call $cleanup catch_all i32.const 9 call $log end
    i32.const 0 i32.load)
  (func (export "rethrown") (param i32)
    try local.get 0 call $thrower catch $in try i32.const 0 call $thrower catch_all rethrow 1 end drop drop catch_all rethrow 0 end)
  (func (export "delegate") (param i32) (result i32)
    try $outer (result i32)
      try (result i32)
        try
          local.get 0 call $thrower
        delegate $outer
        i32.const 5
      catch_all
        i32.const 6
      end
    catch_all
      i32.const 7
    end)
  (func (export "delegateout") (param i32)
    try
      try local.get 0 call $thrower delegate 1
    catch_all
    end)
  (func (export "indirect") (param i32) (result i32)
    try (result i32) local.get 0 i32.const 0 call_indirect (type $t) i32.const 1 catch_all i32.const 2 end)
  (func (export "loop") (param i32) (result i32) (local $n i32) (local $s i32)
    block $done
      loop $again
        try
          local.get $n i32.const 1 i32.add local.tee $n i32.const 4 i32.gt_s br_if $done
          local.get $n i32.const 2 i32.rem_s call $thrower
          local.get $s i32.const 100 i32.add local.set $s
        catch $own
          local.get $s i32.add local.set $s
          br $again
        catch $none
          local.get $s i32.const 10 i32.add local.set $s
          br $again
        end
        br $again
      end
    end
    local.get $s)
  (func (export "table") (param i32) (result i32)
    block $a block $b
      try
        local.get 0 br_table $a $b 0
      catch_all
      end
      i32.const 3 return
    end i32.const 2 return
    end i32.const 1)
  (func (export "stack") (param i32) (result i32)
    i32.const 40
    try (result i32) i32.const 1 local.get 0 call $get i32.add catch_all i32.const 2 end
    i32.add)
  (func (export "value") (param i32) (result externref)
    try (result externref) local.get 0 call $js ref.null extern catch $jstag end)
  (func (export "trap") (result i32) try (result i32) unreachable catch_all i32.const 1 end)
  (func (export "traploop") (result i32) (local $x i32)
    try (result i32) i32.const 1 local.get $x i32.div_s catch_all i32.const 1 end)
  (func (export "nested") (param i32) (result i32)
    try (result i32)
      local.get 0 call $thrower i32.const 0
    catch $own
      drop
      try (result i32) i32.const 2 call $thrower i32.const 1 catch $in i32.wrap_i64 i32.add end
    catch_all
      try (result i32) i32.const 1 call $thrower i32.const 1 catch $own i32.const 500 i32.add end
    end)
)
