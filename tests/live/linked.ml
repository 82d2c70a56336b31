(* Like linked.cc, in OCaml: closures, exceptions, and garbage collection. *)
let sink = ref 0

let[@inline never] hot_loop value =
  let value = ref value in
  for i = 1 to 5000 do
    value := ((!value * 1664525) + i) land 0xffffffff
  done;
  !value

let[@inline never] rec descend depth =
  if depth = 0 then hot_loop 1 else 1 + descend (depth - 1)

let[@inline never] compare_keys a b =
  let x = ref a and y = ref b in
  for _ = 1 to 20 do
    x := !x lxor (!x lsl 5);
    y := !y lxor (!y lsl 5)
  done;
  compare !x !y

let[@inline never] sort_by_callback seed =
  let keys = Array.init 500 (fun i -> i * seed land 0xffff) in
  Array.stable_sort compare_keys keys;
  sink := !sink + keys.(0)

exception Deep of int

let[@inline never] rec throw_from depth =
  if depth = 0 then raise (Deep (hot_loop 2)) else 1 + throw_from (depth - 1)

let[@inline never] throw_and_catch () = try throw_from 5 with Deep value -> value

type tree = Leaf | Node of tree * tree

let[@inline never] rec plant depth =
  if depth = 0 then Leaf else Node (plant (depth - 1), plant (depth - 1))

let[@inline never] run_once value =
  sink := !sink + descend 20;
  sort_by_callback value;
  sink := !sink + throw_and_catch ();
  (match plant 10 with Leaf -> incr sink | Node _ -> decr sink);
  sink := !sink + String.length (Printf.sprintf "%d %f" value (float_of_int value))

let () =
  let value = ref 1 in
  while Sys.time () < 0.5 do
    run_once !value;
    incr value
  done;
  if !sink = 0 then print_endline "none"
