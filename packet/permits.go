package packet

// MaySolicit reports whether a packet of the opcode may have the solicited event bit: the last one of a message that takes a receive request (section 9.2.3).
func (in *Info) MaySolicit() bool {
	fn := in.Opcode.Fn()
	return (in.Last || in.Only) && (fn < WriteFirst || fn == SendLastInv || fn == SendOnlyInv || in.Request && in.Headers&HasImmDt != 0)
}

// Unpadded reports whether a packet of the opcode has no pad bytes: it has no payload, or one of whole words.
func (in *Info) Unpadded() bool {
	return in.Defined && (in.First || in.Middle || !in.Payload) && in.Opcode != OpCNP // CNG-CNP-003
}
