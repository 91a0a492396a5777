package remote

import (
	"context"
	"fmt"

	"github.com/creachadair/jrpc2/handler"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/wqe"
)

// queuePairs adds the methods of queue pairs.
func (x *session) queuePairs(m handler.Map) {
	m["CreateQP"] = method(x, func(ctx context.Context, d Device, p *createQP) (wqe.QP, error) { return d.CreateQP(ctx, p.Init) })
	m["ModifyQP"] = verb(x, func(ctx context.Context, d Device, p *modifyQP) error { return d.ModifyQP(ctx, p.QP, p.Attr) })
	m["TransitionQP"] = verb(x, func(ctx context.Context, d Device, p *modifyQP) error { return d.TransitionQP(ctx, p.QP, p.To, p.Attr) })
	m["QueryQP"] = method(x, func(ctx context.Context, d Device, p *ofQP) (attrOf, error) {
		a, s, err := d.QueryQP(ctx, p.QP)
		return attrOf{a, s}, err
	})
	m["QPAttr"] = method(x, func(ctx context.Context, d Device, p *ofQP) (attrOf, error) {
		a, err := d.QPAttr(ctx, p.QP)
		return attrOf{Attr: a}, err
	})
	m["DestroyQP"] = verb(x, func(ctx context.Context, d Device, p *ofQP) error { return d.DestroyQP(ctx, p.QP) })
	m["PostSend"] = verb(x, func(ctx context.Context, d Device, p *postSend) error { return d.PostSend(ctx, p.QP, &p.Request) })
	m["PostReceive"] = verb(x, func(ctx context.Context, d Device, p *postReceive) error { return d.PostReceive(ctx, p.QP, &p.Request) })
	m["Outstanding"] = method(x, func(ctx context.Context, d Device, p *ofQP) (outstanding, error) {
		s, r, err := d.Outstanding(ctx, p.QP)
		return outstanding{s, r}, err
	})
	m["DataSegments"] = method(x, func(ctx context.Context, d Device, p *ofQP) ([]wqe.Segment, error) {
		return d.DataSegments(ctx, p.QP, p.ID)
	})
}

// queues adds the methods of completion queues and shared receive queues.
func (x *session) queues(m handler.Map) {
	m["CreateCQ"] = method(x, func(ctx context.Context, d Device, p *ofCQ) (wqe.CQ, error) { return d.CreateCQ(ctx, p.Depth) })
	m["ResizeCQ"] = verb(x, func(ctx context.Context, d Device, p *ofCQ) error { return d.ResizeCQ(ctx, p.CQ, p.Depth) })
	m["CQDepth"] = method(x, func(ctx context.Context, d Device, p *ofCQ) (int, error) {
		if known, ok := d.(hcaagent.QueueDepths); ok {
			return known.CQDepth(ctx, p.CQ)
		}
		return 0, nil
	})
	m["DestroyCQ"] = verb(x, func(ctx context.Context, d Device, p *ofCQ) error { return d.DestroyCQ(ctx, p.CQ) })
	m["RequestNotification"] = verb(x, func(ctx context.Context, d Device, p *ofCQ) error { return d.RequestNotification(ctx, p.CQ, p.Arm) })
	m["Poll"] = method(x, x.poll)

	m["CreateSRQ"] = method(x, func(ctx context.Context, d Device, p *ofSRQ) (wqe.SRQ, error) {
		return d.CreateSRQ(ctx, p.PD, p.Depth, p.Segments)
	})
	m["CreateXRCSRQ"] = method(x, func(ctx context.Context, d Device, p *ofSRQ) (wqe.SRQ, error) {
		return d.CreateXRCSRQ(ctx, p.PD, p.XRCD, p.Depth, p.Segments)
	})
	m["ModifySRQ"] = verb(x, func(ctx context.Context, d Device, p *ofSRQ) error { return d.ModifySRQ(ctx, p.SRQ, p.Limit) })
	m["DestroySRQ"] = verb(x, func(ctx context.Context, d Device, p *ofSRQ) error { return d.DestroySRQ(ctx, p.SRQ) })
	m["PostSharedReceive"] = verb(x, func(ctx context.Context, d Device, p *postReceive) error {
		return d.PostSharedReceive(ctx, p.SRQ, &p.Request)
	})
	m["CreateXRCD"] = method(x, func(ctx context.Context, d Device, _ *none) (wqe.XRCD, error) { return d.CreateXRCD(ctx) })
	m["DestroyXRCD"] = verb(x, func(ctx context.Context, d Device, p *ofXRCD) error { return d.DestroyXRCD(ctx, p.XRCD) })
}

// memory adds the methods of protection domains, memory regions and windows, and memory.
func (x *session) memory(m handler.Map) {
	m["CreatePD"] = method(x, func(ctx context.Context, d Device, _ *none) (wqe.PD, error) { return d.CreatePD(ctx) })
	m["DestroyPD"] = verb(x, func(ctx context.Context, d Device, p *ofPD) error { return d.DestroyPD(ctx, p.PD) })
	m["RegisterMR"] = method(x, func(ctx context.Context, d Device, p *hcaagent.NewMR) (k keys, err error) {
		if err = x.reserve(p.Length); err != nil {
			return k, err
		}
		k.MR, k.LKey, k.RKey, err = d.RegisterMR(ctx, *p)
		if err != nil {
			k.MR = 0
		}
		x.settle(uint32(k.MR), p.Length)
		return k, err
	})
	m["DeregisterMR"] = verb(x, func(ctx context.Context, d Device, p *ofMR) error {
		err := d.DeregisterMR(ctx, p.MR)
		if err == nil {
			x.returned(uint32(p.MR))
		}
		return err
	})
	m["AllocateMW"] = method(x, func(ctx context.Context, d Device, p *ofMW) (k keys, err error) {
		k.MW, k.RKey, err = d.AllocateMW(ctx, p.PD, p.Type)
		return k, err
	})
	m["DeallocateMW"] = verb(x, func(ctx context.Context, d Device, p *ofMW) error { return d.DeallocateMW(ctx, p.MW) })

	m["SetMemory"] = verb(x, func(ctx context.Context, d Device, p *ofMemory) error { return d.SetMemory(ctx, p.Memory, p.Data) })
	m["MemoryData"] = method(x, func(ctx context.Context, d Device, p *ofMemory) ([]byte, error) {
		if p.Length < 0 || p.Length > mostData {
			return nil, fmt.Errorf("remote: %d bytes of memory at once: ask for at most %d", p.Length, mostData)
		}
		into := make([]byte, p.Length)
		n, err := d.MemoryData(ctx, p.Memory, into)
		return into[:n], err
	})
	m["MemoryAccess"] = verb(x, func(ctx context.Context, d Device, p *ofMemory) error {
		return d.MemoryAccess(ctx, p.QP, p.Memory, p.Access)
	})
}

// addresses adds the methods of address handles and multicast groups.
func (x *session) addresses(m handler.Map) {
	m["CreateAH"] = method(x, func(ctx context.Context, d Device, p *ofAH) (wqe.AH, error) { return d.CreateAH(ctx, p.PD, p.vector()) })
	m["ModifyAH"] = verb(x, func(ctx context.Context, d Device, p *ofAH) error { return d.ModifyAH(ctx, p.AH, p.vector()) })
	m["QueryAH"] = method(x, func(ctx context.Context, d Device, p *ofAH) (wqe.AddressVector, error) { return d.QueryAH(ctx, p.AH) })
	m["DestroyAH"] = verb(x, func(ctx context.Context, d Device, p *ofAH) error { return d.DestroyAH(ctx, p.AH) })
	m["AttachMulticast"] = verb(x, func(ctx context.Context, d Device, p *ofGroup) error { return d.AttachMulticast(ctx, p.QP, p.Group) })
	m["DetachMulticast"] = verb(x, func(ctx context.Context, d Device, p *ofGroup) error { return d.DetachMulticast(ctx, p.QP, p.Group) })
}

func (p *ofAH) vector() wqe.AddressVector {
	if p.Vector == nil {
		return wqe.AddressVector{}
	}
	return *p.Vector
}

// look polls each queue once, and returns those that had completions, with what their requests have put into memory.
func look(ctx context.Context, d Device, p *poll) ([]polled, error) {
	var list []polled
	var into []cq.Completion
	left := mostPolled // of one answer
	for _, number := range p.CQs {
		if left == 0 {
			break
		}
		if into == nil {
			into = make([]cq.Completion, min(p.Most, mostPolled))
		}
		n, err := d.Poll(ctx, number, into[:min(len(into), left)])
		if err != nil {
			if len(list) > 0 {
				break // what was taken is told first
			}
			return nil, err
		}
		if n > 0 {
			left -= n
			list = append(list, contents(ctx, d, number, into[:n]))
		}
	}
	return list, nil
}

// contents adds to completions what their requests have put into memory, as far as the device knows it.
func contents(ctx context.Context, d Device, number wqe.CQ, taken []cq.Completion) polled {
	all := polled{CQ: number, Completions: make([]hcaagent.Completed, len(taken))}
	n, err := d.Completions(ctx, number, all.Completions)
	all.Unknown = err != nil
	for i := range taken {
		if i >= n || err != nil || all.Completions[i].Completion != taken[i] {
			all.Completions[i] = hcaagent.Completed{Completion: taken[i]}
		}
	}
	return all
}
