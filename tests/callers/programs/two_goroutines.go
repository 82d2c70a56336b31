// two_goroutines CHANGES_EVERY_NS SECONDS: two goroutines call one C function in turn. One of them
// does three times the work of the other.

package main

/*
__attribute__((noinline)) static void c_leaf(long turns) {
  unsigned long value = 1;
  for (long i = 0; i < turns; i++) {
    value = value * 3 + 1;
    __asm__ volatile("" : "+r"(value));
  }
}
__attribute__((noinline)) static void c_deep(int left, long turns) {
  if (left == 0) {
    c_leaf(turns);
  } else {
    c_deep(left - 1, turns);
  }
  __asm__ volatile("" ::: "memory");
}
void c_work(long turns) {
  c_deep(9, turns);
  __asm__ volatile("" ::: "memory");
}
*/
import "C"

import (
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"unsafe"
)

//go:noinline
func cpuNow() int64 {
	const processCPU = 2
	var now syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, processCPU, uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano()
}

//go:noinline
func alpha(turns float64) { C.c_work(C.long(3 * turns)) }

//go:noinline
func beta(turns float64) { C.c_work(C.long(turns)) }

//go:noinline
func runAlpha(mine, other chan float64) {
	for turns := range mine {
		alpha(turns)
		other <- turns
	}
	close(other)
}

// Chooses the number of loop turns per unit of work. Both goroutines use the same number
// in a cycle. Each cycle has a new number.
//
//go:noinline
func runBeta(perChange float64, mine, other chan float64, end int64) {
	state := uint32(1 << 30)
	for turns := range mine {
		if turns > 0 {
			beta(turns)
		}
		if cpuNow() >= end {
			close(other)
			return
		}
		other <- perChange / 2 * (0.5 + float64(state)/4294967296)
		state = state*1664525 + 1013904223
	}
}

func main() {
	runtime.GOMAXPROCS(1)
	changes, _ := strconv.ParseFloat(os.Args[1], 64)
	seconds, _ := strconv.ParseFloat(os.Args[2], 64)
	const turns = 2000000
	start := cpuNow()
	C.c_work(turns)
	perNs := turns / float64(cpuNow()-start)
	if path := os.Getenv("CALLERS_WAIT"); path != "" {
		os.ReadFile(path)
	}
	end := cpuNow() + int64(seconds*1e9)
	a, b := make(chan float64, 1), make(chan float64, 1)
	var group sync.WaitGroup
	group.Add(2)
	go func() { runAlpha(a, b); group.Done() }()
	go func() { runBeta(changes*perNs, b, a, end); group.Done() }()
	b <- 0
	group.Wait()
}
