// Like linked.cc, in Rust: code of the program and of the standard library that call one another.

extern "C" {
    fn clock() -> i64; // clock(3) of the C library; returns CPU time in µs
}

// Hides a value from the compiler. std::hint has this since Rust 1.66.
#[inline(always)]
fn black_box<T: Copy>(value: T) -> T {
    unsafe { std::ptr::read_volatile(&value) }
}

#[no_mangle]
#[inline(never)]
pub extern "C" fn hot_loop(mut value: u32) -> u32 {
    for _ in 0..black_box(5000) {
        value = value.wrapping_mul(1664525).wrapping_add(1013904223);
    }
    black_box(value)
}

#[no_mangle]
#[inline(never)]
pub extern "C" fn inner_level(value: u32) -> u32 {
    black_box(hot_loop(value)) ^ 1
}

#[no_mangle]
#[inline(never)]
pub extern "C" fn outer_level(value: u32) -> u32 {
    black_box(inner_level(value) ^ inner_level(value ^ 1))
}

#[no_mangle]
#[inline(never)]
pub extern "C" fn sort_key(value: u32) -> u32 {
    let mut key = value;
    for _ in 0..20 {
        key ^= key << 5;
    }
    black_box(key)
}

#[no_mangle]
#[inline(never)]
pub extern "C" fn sort_by_callback(seed: u32) -> u32 {
    let mut values: Vec<u32> = (0..1000u32).map(|i| i.wrapping_mul(seed | 1)).collect();
    values.sort_by(|a, b| sort_key(*a).cmp(&sort_key(*b)));
    black_box(values[0])
}

#[no_mangle]
#[inline(never)]
pub extern "C" fn run_once(value: u32) -> u32 {
    let mut sum = sort_by_callback(value);
    for i in 0..10 {
        sum ^= outer_level(value ^ i);
    }
    black_box(sum)
}

fn main() {
    let mut value = 1;
    while unsafe { clock() } < 500_000 {
        value = run_once(value);
    }
    black_box(value);
}
