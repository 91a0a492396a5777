package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"ibwitness/internal/cache"
)

const (
	programSize = 48 << 20 // bytes of memory that are neither heap nor rings
	leastHeap   = 64 << 20 // with which the program can do something
	mostMiB     = 1 << 24  // of memory or of a file: more than any machine has
)

// sized reports a flag that is no number of MiB.
func sized(flag string, mib int) error {
	if mib < 0 || mib > mostMiB {
		return fmt.Errorf("cli: %s %d: give a number of MiB, at most %d", flag, mib, mostMiB)
	}
	return nil
}

// rarely has the collector wait, until release is called, until the heap has grown by another 32 MiB, at least: one of a few MiB, through which verbs events flow, it
// would go through many times a second, for a fifth of all the processor time. Nothing is put into that memory, so that the system provides none for it. What the heap
// grows into is asked for in large pages: one by one the system takes longer to provide small ones than the collector takes to go through what is there.
func rarely() (release func()) {
	percent := debug.SetGCPercent(-1) // it need not go through the heap for each of these
	unused := make([]byte, 32<<20)
	cache.LargePagesLater(make([]byte, 64<<20))
	debug.SetGCPercent(percent)
	runtime.GC() // what was asked for is free again
	return func() { runtime.KeepAlive(unused) }
}

// heap is what of --memory is left for the heap, bytes.
func (c *watchCommand) heap() int64 {
	return int64(c.Memory)<<20 - programSize - int64(len(c.Interface)*c.Sockets)*int64(c.Ring)<<20
}

// memory keeps the heap below a limit: the collector works harder the nearer it is, and where too much of it is in use, that is said. What is in use is
// known after each of its cycles only: it is kept to three quarters of the limit, which leaves room for what is opened, and for forgetting, until then.
type memory struct {
	limit  uint64
	cycles uint64 // of the collector, after which what is in use is known again
	sample [2]metrics.Sample
}

func newMemory(limit int64) *memory {
	debug.SetMemoryLimit(limit / 4 * 3)
	m := &memory{limit: uint64(limit)}
	m.sample[0].Name, m.sample[1].Name = "/gc/heap/live:bytes", "/gc/cycles/total:gc-cycles"
	return m
}

// short reports whether something must be forgotten: two fifths of the limit are in use, which leaves the collector nearly as much to work with. It does not say so
// again before the collector has seen what that brought.
func (m *memory) short() bool {
	metrics.Read(m.sample[:])
	live, cycles := m.sample[0].Value.Uint64(), m.sample[1].Value.Uint64()
	if cycles < m.cycles || live < m.limit/5*2 {
		return false
	}
	m.cycles = cycles + 2
	return true
}
