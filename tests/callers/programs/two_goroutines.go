// two_goroutines CHANGES_EVERY_NS SECONDS: two goroutines call one function of C in turn, one with
// three times the work of the other.

package main

/*
static volatile unsigned long sink;
__attribute__((noinline)) static void c_leaf(long turns) {
  for (long i = 0; i < turns; i++) sink += (unsigned long)i * sink;
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
func runAlpha(turns float64, mine, other chan bool) {
	for <-mine {
		alpha(turns)
		other <- true
	}
}

//go:noinline
func runBeta(turns float64, mine, other chan bool, end int64) {
	for goesOn := true; goesOn; {
		<-mine
		beta(turns)
		goesOn = cpuNow() < end
		other <- goesOn
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
	a, b := make(chan bool, 1), make(chan bool, 1)
	var group sync.WaitGroup
	group.Add(2)
	go func() { runAlpha(changes/2*perNs, a, b); group.Done() }()
	go func() { runBeta(changes/2*perNs, b, a, end); group.Done() }()
	a <- true
	group.Wait()
}
