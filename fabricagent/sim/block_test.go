package sim

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// TestRoomUsedAgain: a frame in room of Room stays as it was sent until its batch is released, and a long run keeps to few blocks.
func TestRoomUsedAgain(t *testing.T) {
	clock := NewClock(0)
	f := NewFabric(clock, Options{})
	rec := NewRecorder("run", clock.Step)
	if err := f.TapMiddle("middle", rec); err != nil {
		t.Fatal(err)
	}
	arrived := 0
	f.Attach(addrB, func([]byte) { arrived++ })
	send, room := f.Attach(addrA, func([]byte) {}), f.Room(addrA)
	path := f.Path(addrA, addrB)
	path.Before.Add(Error{Kind: Duplicate, Delay: 5000, Filter: Filter{Probability: 0.1}})
	path.Before.Add(Error{Kind: Reorder, OvertakenBy: 3, Filter: Filter{Probability: 0.1}})
	path.After.Add(Error{Kind: Delay, Delay: 20_000, Filter: Filter{Probability: 0.1}})
	path.After.Add(Error{Kind: Corrupt, Flip: 3, Filter: Filter{Probability: 0.1}})
	const frames = 100_000
	clock.Repeat(0, 100, frames, func(i int) {
		p := packet.Packet{Encap: packet.RoCEv2IPv4, Src: addrA, Dst: addrB, Opcode: packet.Op(packet.RC, packet.SendOnly), PSN: packet.PSN(i), PKey: 0xffff, Payload: make([]byte, i%1024)}
		for k := range p.Payload {
			p.Payload[k] = byte(i)
		}
		p.Complete()
		send(p.AppendEthernet(room(128+len(p.Payload)), [6]byte{2, 0, 0, 0, 0, 1}, [6]byte{2, 0, 0, 0, 0, 2}))
	})
	type kept struct {
		*fabricagent.Batch
		frames [][]byte
	}
	var waiting []kept
	chance := rand.New(rand.NewPCG(1, 2))
	release := func() {
		i := chance.IntN(len(waiting))
		for k, frame := range waiting[i].frames {
			if !bytes.Equal(frame, waiting[i].Frames[k].Data) {
				t.Fatalf("frame %d was changed before its batch was released", waiting[i].Frames[k].Number)
			}
		}
		waiting[i].Release()
		waiting = append(waiting[:i], waiting[i+1:]...)
	}
	seen := 0
	for {
		b, err := rec.Next()
		if err == io.EOF {
			break
		}
		k := kept{Batch: b}
		for i := range b.Frames {
			k.frames = append(k.frames, bytes.Clone(b.Frames[i].Data))
		}
		seen += len(b.Frames)
		if waiting = append(waiting, k); len(waiting) > 8 {
			release()
		}
	}
	for len(waiting) > 0 {
		release()
	}
	if seen < frames || arrived < frames {
		t.Errorf("%d frames seen and %d arrived of %d that were sent", seen, arrived, frames)
	}
	if n := len(f.port(addrA).blocks.full); n > 200 {
		t.Errorf("%d blocks of %d bytes", n, blockSize)
	}
}
