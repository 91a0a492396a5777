package upper

// mostFirstCalls is of how many calls, the first ones, a connection of RPC over RDMA keeps the frames: an RPC client begins its next connection with
// those that had no answer on the one before.
const mostFirstCalls = 8

// FirstCall is one of the first calls of a connection.
type FirstCall struct {
	XID   uint32
	Tap   uint16
	Frame uint64
}

// firstCalls keeps them.
type firstCalls struct {
	list [mostFirstCalls]FirstCall
	n    int
}

func (f *firstCalls) add(m *Message, xid uint64) {
	if f.n < mostFirstCalls {
		f.list[f.n] = FirstCall{uint32(xid), m.Tap, m.Frame}
		f.n++
	}
}

// FirstCalls returns the first calls of a connection of RPC over RDMA, and the XIDs of the first of those that have no answer.
func (t *Tracker) FirstCalls() (first []FirstCall, open []uint32) {
	d, ok := t.decoder.(*rpcDecoder)
	if !ok || t.cut || t.forgot {
		return nil, nil
	}
	for _, c := range t.Waiting(mostFirstCalls) {
		open = append(open, uint32(c.ID))
	}
	return append(first, d.first.list[:d.first.n]...), open
}
