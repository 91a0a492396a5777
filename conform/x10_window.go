package conform

import (
	"bytes"
	"fmt"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// windowTests are those of memory windows, address handles and P_Keys.
var windowTests = []*Test{bindRights, bindTypes, foreignHandle, invalidPKey}

// windowVA is where the regions begin that windows are bound to, each 4096 bytes.
const windowVA = 0x3000_0000

// binding is a window that is to be bound.
type binding struct {
	name   string
	kind   int
	region wqe.Access // rights of the region
	access wqe.Access // of the window
	off, n uint64
	other  bool // the window is of another protection domain
	again  bool // it is bound once more
	right  bool // the bind must succeed
}

const bindable = wqe.LocalWrite | wqe.RemoteWrite | wqe.RemoteRead | wqe.BindWindow

// window has the device bind a window of type 2 to a region of 4096 bytes, for the peer to read, and returns its R_Key. Everywhere such a key can be invalidated; that of a
// region only where it was registered by a work request.
func (c *conn) window(va uint64) uint32 {
	r := c.r
	mr, _, _, err := r.dev.RegisterMR(ctx, hcaagent.NewMR{PD: r.memory.pd, VA: va, Length: 4096, Access: bindable})
	r.must(err)
	mw, rkey, err := r.dev.AllocateMW(ctx, r.memory.pd, 2)
	r.must(err)
	rkey = rkey&^0xFF | (rkey+1)&0xFF
	c.posted++
	r.must(r.dev.PostSend(ctx, c.qp, wqe.SendRequest{
		ID: c.posted, Op: wqe.OpBindMW, Flags: wqe.Signaled, Window: &wqe.Bind{MW: mw, MR: mr, RKey: rkey, VA: va, Length: 4096, Access: wqe.RemoteRead},
	}))
	had := len(c.completions)
	if !r.until(r.soon(), func() bool { return len(c.completions) > had }) || c.completions[had].Status != cq.Success {
		r.halt("the device has not bound a window of type 2")
	}
	c.completions = c.completions[:had]
	return rkey
}

// bind allocates a window, has the device bind it, and judges the result, and what the R_Key opens: ours#01 to ours#03.
func (r *run) bind(x binding) {
	c := r.connect(patient)
	va := windowVA + uint64(len(r.conns))*0x10000
	mr, lkey, _, err := r.dev.RegisterMR(ctx, hcaagent.NewMR{PD: r.memory.pd, VA: va, Length: 4096, Access: x.region})
	r.must(err)
	pd := r.memory.pd
	if x.other {
		pd, err = r.dev.CreatePD(ctx)
		r.must(err)
	}
	mw, rkey, err := r.dev.AllocateMW(ctx, pd, x.kind)
	r.must(err)
	r.note("the case: %s", x.name)
	post := func(key uint32) error {
		c.posted++
		return r.dev.Deliberately().PostSend(ctx, c.qp, wqe.SendRequest{
			ID: c.posted, Op: wqe.OpBindMW, Flags: wqe.Signaled, Window: &wqe.Bind{MW: mw, MR: mr, RKey: key, VA: va + x.off, Length: x.n, Access: x.access},
		})
	}
	key := rkey&^0xFF | (rkey+1)&0xFF
	r.again(1)
	if x.again {
		r.must(post(key))
		c.completed(1, r.soon())
		key = rkey&^0xFF | (rkey+2)&0xFF
	}
	had := len(c.completions)
	err = post(key)
	list := c.completed(had+1, r.soon())[had:]
	if !x.right {
		ok := err != nil && len(list) == 0 || len(list) == 1 && list[0].Status != cq.Success
		if !r.check("ours#02", ok, "an error, at once or in the completion", taken(err)+", "+statuses(list)) {
			r.why = "the device has bound the window"
			return
		}
		c = r.connect(answering)
	} else if !c.once("ours#01", list, cq.Success) {
		return
	}
	r.again(2)
	data := pattern(r.seed, 8)
	r.must(r.dev.SetMemory(ctx, wqe.Memory{Key: wqe.Key{Addr: r.net.device, Key: lkey, Local: true}, VA: va + x.off, Length: 8}, data))
	p := c.ask(packet.ReadRequest, nil, func(p *packet.Packet) { p.RKey, p.VA, p.DMALen = key, va+x.off, 8 })
	got := c.answer()
	if !x.right {
		c.nakked("ours#03", p, got, p.PSN, 0, packet.NAKRemoteAccess)
		return
	}
	ok := got != nil && got.Opcode == readResponseOp(0, 1) && bytes.Equal(got.Payload, data)
	r.check("ours#01", ok, "READ response with the data of the window", happened(got, nil), p, got)
}

// What is asserted of windows.
var bindAssertions = []Assertion{
	{"ours#01", "A right bind completes with success, and its R_Key opens the window to the peer."}, {"ours#02", "A wrong one is refused at once, or completes with an error."}, {"ours#03", "Its R_Key opens nothing: a READ is refused with NAK Remote Access Error."},
}

// bindSteps are the steps of a test of windows.
var bindSteps = []string{"Have the device bind the window, and poll.", "Send a READ of the window with its R_Key."}

var bindRights = &Test{
	ID: "X10_031", Title: "rights and ranges of memory windows",
	Abstract: "A window of another protection domain, to a region that permits no windows, with more rights than the region has, or beyond its end, is not bound.",
	Covers:   []Statement{{"C10-72", Seen}, {"C10-73", Seen}, {"C10-74", Seen}, {"C10-75", Seen}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"For each case connect a queue pair of RC, register a region, and allocate a window of type 2."},
	Procedure:  bindSteps,
	Assertions: bindAssertions,
	Decisions:  ours,
	run: func(r *run) {
		for _, x := range []binding{
			{name: "a right one", kind: 2, region: bindable, access: wqe.RemoteRead, n: 64, right: true},
			{name: "a window of another protection domain", kind: 2, region: bindable, access: wqe.RemoteRead, n: 64, other: true},
			{name: "a region that permits no windows", kind: 2, region: bindable &^ wqe.BindWindow, access: wqe.RemoteRead, n: 64},
			{name: "a window to write to in a region to read", kind: 2, region: wqe.RemoteRead | wqe.BindWindow, access: wqe.RemoteRead | wqe.RemoteWrite, n: 64},
			{name: "a window beyond the end of the region", kind: 2, region: bindable, access: wqe.RemoteRead, off: 4096 - 63, n: 64},
		} {
			r.bind(x)
		}
	},
}

var bindTypes = &Test{
	ID: "X10_032", Title: "types of memory windows",
	Abstract: "A zero based window of type 1, a window of type 2 that is bound already, and one of type 2 of 0 bytes are not bound.",
	Covers:   []Statement{{"o10-36.2.2", Seen}, {"o10-37.2.30", Seen}, {"o10-37.2.40", Seen}}, Topology: pairTopology, Needs: Control,
	Setup:      []string{"For each case connect a queue pair of RC, register a region, and allocate a window."},
	Procedure:  bindSteps,
	Assertions: bindAssertions,
	Decisions:  ours,
	run: func(r *run) {
		for _, x := range []binding{
			{name: "a right one", kind: 2, region: bindable, access: wqe.RemoteRead, n: 64, right: true},
			{name: "type 1, zero based", kind: 1, region: bindable, access: wqe.RemoteRead | wqe.ZeroBased, n: 64},
			{name: "type 2 of 0 bytes", kind: 2, region: bindable, access: wqe.RemoteRead},
			{name: "type 2, bound already", kind: 2, region: bindable, access: wqe.RemoteRead, n: 64, again: true},
		} {
			r.bind(x)
		}
	},
}

var foreignHandle = &Test{
	ID: "X10_033", Title: "address handle of another protection domain",
	Abstract: "A datagram by an address handle of another protection domain than its queue pair's is not sent: its request is refused, or completes with an error.",
	Covers:   []Statement{{"C10-10", Stated}}, Topology: pairTopology, Needs: Control | Memory,
	Setup: []string{"Make a queue pair of UD, an address handle of its protection domain, and one of another."},
	Procedure: []string{
		"Have the device post a datagram by the right handle, receive it, and poll.", "Have it post one by the other handle, wait for 10 ms, and poll.",
	},
	Assertions: append(packetAssertions[:6:6], Assertion{"ours#07", "By the other handle nothing is sent."}, Assertion{"ours#08", "The request is refused at once, or completes with an error."}),
	Decisions:  []Decision{{"No page of it was found.", "Ours. The datagram by the right handle is compared with its request."}},
	run: func(r *run) {
		c := r.datagram()
		own := r.handle(r.memory.pd, wqe.AddressVector{HopLimit: 64})
		pd, err := r.dev.CreatePD(ctx)
		r.must(err)
		foreign := r.handle(pd, wqe.AddressVector{HopLimit: 64})
		r.at(1)
		if !c.served(wqe.OpSend, 64, func(w *wqe.SendRequest) { w.AH = own }) {
			return
		}
		r.at(2)
		had := len(c.completions)
		err = r.dev.Deliberately().PostSend(ctx, c.qp, wqe.SendRequest{
			ID: 99, Op: wqe.OpSend, Flags: wqe.Signaled, Segments: []wqe.Segment{{VA: r.memory.va, Length: 64, LKey: r.memory.lkey}},
			Dest: wqe.QP{Addr: r.net.tester, QPN: c.qpn}, QKey: ownQKey, AH: foreign,
		})
		p := c.quiet()
		r.check("ours#07", p == nil, "nothing", happened(p, nil), p)
		list := c.completions[had:]
		ok := err != nil && len(list) == 0 || len(list) == 1 && list[0].Status != cq.Success
		r.check("ours#08", ok, "an error, at once or in the completion", taken(err)+", "+statuses(list), p)
	},
}

var invalidPKey = &Test{
	ID: "X10_034", Title: "P_Keys whose low 15 bits are 0",
	Abstract: "A queue pair does not take a P_Key whose low 15 bits are 0, and no packet has one.",
	Covers:   []Statement{{"C10-116", Stated}}, Topology: pairTopology, Needs: Control,
	Setup: []string{"Make a queue pair of RC, UC and UD. Connect one of RC and of UC."},
	Procedure: []string{
		"Ask for INIT with the P_Key 0x8000. Query the queue pair.", "Have the device post SENDs on RC and UC, and receive them; send a SEND on RC, and receive its ACK.",
	},
	Assertions: []Assertion{{"ours#01", "The transition is refused, and the queue pair stays in RESET."}, {"ours#02", "No packet has a P_Key whose low 15 bits are 0."}},
	Decisions:  []Decision{{"An entry of the P_Key table is made invalid.", "The table belongs to subnet management: the P_Key itself is given."}},
	run: func(r *run) {
		r.at(1)
		for _, t := range stateTypes {
			c := r.pairIn(t, qp.Reset)
			a := c.given(qp.Reset, qp.Init)
			a.PKey = 0x8000
			c.refusedOr("ours#01", fmt.Sprintf("%v, P_Key 0x8000", t), true, c.modify(qp.Init, a), qp.Reset)
		}
		r.at(2)
		valid := func(p *packet.Packet) {
			r.check("ours#02", p.PKey&0x7FFF != 0, "a valid P_Key", fmt.Sprintf("P_Key %#x", p.PKey), p)
		}
		for _, t := range stateTypes[:2] {
			c := r.connectAs(t, patient, nil)
			c.posts(wqe.OpSend, 64, nil)
			p := c.any()
			valid(p)
			if t == qp.TypeRC {
				c.postReceive(64)
				c.ask(packet.SendOnly, pattern(1, 64), nil)
				valid(c.any())
			}
		}
	},
}
