package packet

// Bare copies a packet without the views on its frame, which is about to be reused.
func (p *Packet) Bare() *Packet {
	b := *p
	b.Payload, b.Pad, b.Data = nil, nil, nil
	return &b
}

// FrameNear returns the number of a frame before frame now, or shortly after it, of which low is the low 32 bits.
func FrameNear(now uint64, low uint32) uint64 {
	f := now&^0xFFFFFFFF | uint64(low)
	if f > now+1<<31 {
		f -= 1 << 32
	}
	return f
}

// Bit is 1 where b is true, else 0; it compiles to no branch.
func Bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
