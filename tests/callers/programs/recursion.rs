// recursion DEPTH CHANGES_EVERY_NS SECONDS HOW: alpha and beta call the same recursive function at
// the same stack position, alpha three times as often. The environment variable FRAME sets the size
// of frames in bytes at compile time. HOW: `plain` calls, `closure` calls a closure per level,
// `dyn` calls trait objects.

use std::hint::black_box;

const fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut value, mut i) = (0, 0);
    while i < bytes.len() {
        value = value * 10 + (bytes[i] - b'0') as usize;
        i += 1;
    }
    value
}

const PAD: usize = number(env!("FRAME")) - 40;

#[repr(C)]
struct Time {
    seconds: i64,
    nanoseconds: i64,
}
extern "C" {
    fn clock_gettime(clock: i32, time: *mut Time) -> i32;
}
const THREAD_CPU: i32 = 3;

struct Work {
    turns_per_ns: f64,
    depth: usize,
    ns: i64,
    how: u8,
}

#[inline(never)]
fn cpu_now() -> i64 {
    let mut time = Time { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(THREAD_CPU, &mut time) };
    time.seconds * 1_000_000_000 + time.nanoseconds
}

#[inline(never)]
fn spin(turns: i64) {
    let mut value = black_box(1u64);
    for i in 0..turns {
        value = value.wrapping_mul(6364136223846793005).wrapping_add(i as u64);
    }
    black_box(value);
}

#[inline(never)]
fn leaf(work: &Work) {
    if work.ns < 1_000_000 {
        spin((work.ns as f64 * work.turns_per_ns) as i64);
        black_box(work);
        return;
    }
    let end = cpu_now() + work.ns;
    while cpu_now() < end {
        spin((20_000.0 * work.turns_per_ns) as i64);
    }
}

#[inline(never)]
fn deep(left: usize, work: &Work) {
    let mut frame = [0u8; PAD];
    black_box(&mut frame)[left % PAD] = 1;
    if left == 0 {
        leaf(work);
    } else {
        deep(left - 1, work);
    }
    black_box(&mut frame);
}

#[inline(never)]
fn deep_by_closure(left: usize, work: &Work) {
    let mut frame = [0u8; PAD];
    black_box(&mut frame)[left % PAD] = 1;
    let next: &dyn Fn() = &|| {
        if left == 0 {
            leaf(work)
        } else {
            deep_by_closure(left - 1, work)
        }
        black_box(work);
    };
    black_box(next)();
    black_box(&mut frame);
}

trait Step {
    fn descend(&self, left: usize, work: &Work);
}
struct Even;
struct Odd;
impl Step for Even {
    #[inline(never)]
    fn descend(&self, left: usize, work: &Work) {
        let mut frame = [0u8; PAD];
        black_box(&mut frame)[left % PAD] = 1;
        if left == 0 {
            leaf(work);
        } else {
            black_box(&Odd as &dyn Step).descend(left - 1, work);
        }
        black_box(&mut frame);
    }
}
impl Step for Odd {
    #[inline(never)]
    fn descend(&self, left: usize, work: &Work) {
        let mut frame = [1u8; PAD];
        black_box(&mut frame)[left % PAD] = 1;
        if left == 0 {
            leaf(work);
        } else {
            black_box(&Even as &dyn Step).descend(left - 1, work);
        }
        black_box(&mut frame);
    }
}

#[inline(never)]
fn once(work: &Work) {
    match work.how {
        b'c' => deep_by_closure(work.depth - 1, work),
        b'd' => black_box(&Even as &dyn Step).descend(work.depth - 1, work),
        _ => deep(work.depth - 1, work),
    }
    black_box(work);
}

#[inline(never)]
fn alpha(calls: usize, work: &Work) {
    for _ in 0..calls {
        once(work);
    }
    black_box(1);
}

#[inline(never)]
fn beta(calls: usize, work: &Work) {
    for _ in 0..calls {
        once(work);
    }
    black_box(2);
}

#[inline(never)]
fn calibrate() -> f64 {
    const TURNS: i64 = 5_000_000;
    let start = cpu_now();
    spin(TURNS);
    TURNS as f64 / (cpu_now() - start) as f64
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let changes: f64 = arguments[2].parse().unwrap();
    let seconds: f64 = arguments[3].parse().unwrap();
    let mut work = Work {
        turns_per_ns: calibrate(),
        depth: arguments[1].parse().unwrap(),
        ns: 0,
        how: arguments[4].as_bytes()[0],
    };
    if let Ok(path) = std::env::var("CALLERS_WAIT") {
        std::fs::read(path).unwrap();
    }
    let end = cpu_now() + (seconds * 1e9) as i64;
    let between_looks = if changes < 100_000.0 { 64 } else { 1 };
    let mut state: u32 = 1 << 30;
    loop {
        for _ in 0..between_looks {
            work.ns = (changes / 2.0 * (0.5 + state as f64 / 4294967296.0)) as i64;
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            alpha(3, &work);
            beta(1, &work);
        }
        if cpu_now() >= end {
            break;
        }
    }
}
