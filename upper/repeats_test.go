package upper

import "testing"

// TestRepeats: a call that has the XID, program and procedure of an open one of the same end repeats it, and its time counts from the first; one that calls another procedure, comes from the other end, or after the
// reply is a new one.
func TestRepeats(t *testing.T) {
	const xid = 0xAB01
	for name, x := range map[string]struct {
		then  func(k *talk)
		want  Counts
		times uint32
	}{
		"twice more": {func(k *talk) {
			k.send(0, rpcCallOf(xid, programNFS, 3, 1, nil, nil))
			k.send(0, rpcCallOf(xid, programNFS, 3, 1, nil, nil))
		}, Counts{Begun: 2, Ended: 1, Open: 1}, 2},
		"another procedure": {func(k *talk) { k.send(0, rpcCallOf(xid, programNFS, 3, 4, nil, nil)) }, Counts{Begun: 3, Ended: 1, Open: 1}, 0},
		"another program":   {func(k *talk) { k.send(0, rpcCallOf(xid, programACL, 3, 1, nil, nil)) }, Counts{Begun: 3, Ended: 1, Open: 1}, 0},
		"the other end":     {func(k *talk) { k.send(1, rpcCallOf(xid, programNFS, 3, 1, nil, nil)) }, Counts{Begun: 3, Ended: 1, Open: 2}, 0},
		"after the reply": {func(k *talk) {
			k.send(1, rpcReplyOf(xid, 0, uint32(0)))
			k.send(0, rpcCallOf(xid, programNFS, 3, 1, nil, nil))
		}, Counts{Begun: 3, Ended: 2, Open: 1}, 0},
		"and then the reply": {func(k *talk) {
			k.send(0, rpcCallOf(xid, programNFS, 3, 1, nil, nil))
			k.send(1, rpcReplyOf(xid, 0, uint32(0)))
		}, Counts{Begun: 2, Ended: 2}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			k := &talk{TB: t}
			k.send(0, rpcCallOf(xid-1, programNFS, 3, 1, nil, nil))
			k.send(1, rpcReplyOf(xid-1, 0, uint32(0)))
			k.send(0, rpcCallOf(xid, programNFS, 3, 1, nil, nil))
			x.then(k)
			k.is("RPC over RDMA", x.want)
			if c := k.t.Oldest(); c != nil && c.Again.Times != x.times {
				t.Errorf("repeated %d times, not %d", c.Again.Times, x.times)
			}
			if c := k.t.Oldest(); x.times > 0 && (c.Frame != 3 || c.Again.Frame != 4 || k.t.EndedAfter(c) != 0) {
				t.Errorf("%+v, of which %d that began later have ended", c, k.t.EndedAfter(c))
			}
		})
	}
}

// TestRepeatedFetch: a call that is repeated with other memory has that fetched in place of the first.
func TestRepeatedFetch(t *testing.T) {
	k := &talk{TB: t}
	k.send(0, rpcCallOf(1, programNFS, 3, 1, nil, nil))
	k.send(1, rpcReplyOf(1, 0, uint32(0)))
	write := func(rkey uint32) {
		k.send(0, rpcCallOf(2, programNFS, 3, 7, []segment{{rkey, 4096, 0x1000}}, nil))
	}
	write(0x11)
	write(0x12)
	if c := k.t.Oldest(); k.t.Unfetched(c) != 4096 || k.t.WaitUnfetched() != 1 {
		t.Errorf("%d bytes of it are to be fetched, of %d commands", k.t.Unfetched(c), k.t.WaitUnfetched())
	}
	k.t.Read(0x1000, 0x12, 0, 0, 0)
	write(0x13)
	if c := k.t.Oldest(); k.t.Unfetched(c) != 0 || k.t.Fetched() != 1 || k.t.unread != 0 {
		t.Errorf("%d bytes of it are to be fetched, %d commands were, %d places are left", k.t.Unfetched(c), k.t.Fetched(), k.t.unread)
	}
}
