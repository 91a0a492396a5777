package live

import (
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"ibwitness/fabricagent"
)

// TestRingReadsBlocksOnce has one goroutine read blocks of a ring as another gives them back: each block that the kernel hands out is read once,
// also by a reader that waits for the one that is being given back.
func TestRingReadsBlocksOnce(t *testing.T) {
	const blocks, rounds = 2, 300_000
	r := &ring{fd: -1, mem: make([]byte, blocks*256), blocks: make([]block, blocks)}
	r.held.Store(1)
	for k := range r.blocks {
		r.blocks[k].ring, r.blocks[k].mem = r, r.mem[k*256:(k+1)*256]
	}
	back := make(chan *block, blocks)
	var done sync.WaitGroup
	done.Go(func() {
		for b := range back {
			b.release()
		}
	})
	done.Go(func() { // the kernel: one frame in each block, with its number as its time
		for n := range uint32(rounds) {
			b := &r.blocks[n%blocks]
			for atomic.LoadUint32(b.status())&unix.TP_STATUS_USER != 0 {
				runtime.Gosched()
			}
			h := b.header()
			h.Num_pkts, h.Offset_to_first_pkt = 1, 64
			binary.NativeEndian.PutUint32(b.mem[64+4:], n) // tp_sec
			atomic.StoreUint32(b.status(), unix.TP_STATUS_USER)
		}
	})
	for n := range int64(rounds) {
		for !r.ready() {
			runtime.Gosched()
		}
		b := r.block
		b.refs.Add(1)
		var f fabricagent.Frame
		r.take(&f)
		if got := f.Time / 1e9; got != n {
			t.Fatalf("block %d was read where %d was the next", got, n)
		}
		r.ready() // lets go of the block
		back <- b
	}
	close(back)
	done.Wait()
}
