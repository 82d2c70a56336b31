// Like linked.cc, in Go: goroutines, and work of the runtime on the threads' stacks.
package main

import (
	"fmt"
	"os"
	"sort"
	"sync"
	"syscall"
)

var sink uint32

//go:noinline
func hotLoop(value uint32) uint32 {
	for i := 0; i < 10000; i++ {
		value = value*1664525 + 1013904223
	}
	return value
}

//go:noinline
func innerLevel(value uint32) uint32 { return hotLoop(value) ^ 1 }

//go:noinline
func outerLevel(value uint32) uint32 { return innerLevel(value) ^ innerLevel(value+1) }

// Has frames so large that the stack must grow, which copies it to another address.
//go:noinline
func descend(depth int) int {
	var room [1024]byte
	room[depth%1024] = byte(depth)
	if depth == 0 {
		return int(hotLoop(1))
	}
	return descend(depth-1) + int(room[depth%1024])
}

//go:noinline
func compareKeys(a, b uint32) bool {
	for i := 0; i < 20; i++ {
		a, b = a^a<<5, b^b<<5
	}
	return a < b
}

//go:noinline
func sortByCallback(seed uint32) {
	keys := make([]uint32, 1000)
	for i := range keys {
		seed = seed*22695477 + 1
		keys[i] = seed
	}
	sort.Slice(keys, func(i, j int) bool { return compareKeys(keys[i], keys[j]) })
	sink += keys[0]
}

type tree struct{ left, right *tree }

// Makes work for the garbage collector.
//go:noinline
func plant(depth int) *tree {
	if depth == 0 {
		return &tree{}
	}
	return &tree{plant(depth - 1), plant(depth - 1)}
}

//go:noinline
func runOnce(value uint32) {
	for i := uint32(0); i < 10; i++ {
		sink += outerLevel(value + i)
	}
	sortByCallback(value)
	plant(10)
	done := make(chan int)
	go func() { done <- descend(40) }()
	sink += uint32(<-done)
	if file, err := os.Open("/proc/self/stat"); err == nil {
		var text [256]byte
		file.Read(text[:])
		file.Close()
	}
	callC()
}

// Returns the CPU time of the process in milliseconds.
func cpuTime() int64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return (usage.Utime.Nano() + usage.Stime.Nano()) / 1e6
}

func main() {
	var all sync.WaitGroup
	for worker := uint32(0); worker < 3; worker++ {
		all.Add(1)
		go func(value uint32) {
			defer all.Done()
			for cpuTime() < 1500 {
				runOnce(value)
			}
		}(worker)
	}
	all.Wait()
	fmt.Fprintln(os.Stderr, sink)
}
