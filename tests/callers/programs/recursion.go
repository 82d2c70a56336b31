// recursion DEPTH CHANGES_EVERY_NS SECONDS HOW: alpha and beta call the same recursive function at
// the same stack position, alpha three times as often. They run on a goroutine's stack. Frames have
// frameBytes bytes, a constant in a file that the test writes. HOW: `once` keeps the stack, `grow`
// begins each cycle on a new goroutine, whose stack grows.

package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"unsafe"
)

var sink uint64
var turnsPerNs float64

//go:noinline
func cpuNow() int64 {
	const processCPU = 2
	var now syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, processCPU, uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano()
}

//go:noinline
func spin(turns int64) {
	value := sink
	for i := int64(0); i < turns; i++ {
		value = value*6364136223846793005 + uint64(i)
	}
	sink = value
}

//go:noinline
func leaf(ns int64) {
	if ns < 1000000 {
		spin(int64(float64(ns) * turnsPerNs))
		return
	}
	for end := cpuNow() + ns; cpuNow() < end; {
		spin(int64(20000 * turnsPerNs))
	}
}

//go:noinline
func deep(left int, ns int64) {
	var frame [frameBytes - 32]byte
	frame[left%len(frame)] = 1
	if left == 0 {
		leaf(ns)
	} else {
		deep(left-1, ns)
	}
	sink += uint64(frame[(left+1)%len(frame)])
}

//go:noinline
func alpha(calls, depth int, ns int64) {
	for i := 0; i < calls; i++ {
		deep(depth-1, ns)
	}
	sink++
}

//go:noinline
func beta(calls, depth int, ns int64) {
	for i := 0; i < calls; i++ {
		deep(depth-1, ns)
	}
	sink++
}

//go:noinline
func cycle(depth int, ns int64) {
	alpha(3, depth, ns)
	beta(1, depth, ns)
}

//go:noinline
func calibrate() {
	const turns = 5000000
	start := cpuNow()
	spin(turns)
	turnsPerNs = turns / float64(cpuNow()-start)
}

func run(depth int, changes, seconds float64, grow bool) {
	end := cpuNow() + int64(seconds*1e9)
	betweenLooks := 1
	if changes < 100000 {
		betweenLooks = 64
	}
	var group sync.WaitGroup
	state := uint32(1 << 30)
	for {
		for i := 0; i < betweenLooks; i++ {
			ns := int64(changes / 2 * (0.5 + float64(state)/4294967296))
			state = state*1664525 + 1013904223
			if grow {
				group.Add(1)
				go func() {
					cycle(depth, ns)
					group.Done()
				}()
				group.Wait()
			} else {
				cycle(depth, ns)
			}
		}
		if cpuNow() >= end {
			return
		}
	}
}

func main() {
	runtime.GOMAXPROCS(1)
	debug.SetMaxStack(4 << 30)
	depth, _ := strconv.Atoi(os.Args[1])
	changes, _ := strconv.ParseFloat(os.Args[2], 64)
	seconds, _ := strconv.ParseFloat(os.Args[3], 64)
	calibrate()
	if path := os.Getenv("CALLERS_WAIT"); path != "" {
		os.ReadFile(path)
	}
	run(depth, changes, seconds, os.Args[4] == "grow")
}
