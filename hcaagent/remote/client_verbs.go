package remote

import (
	"context"
	"fmt"

	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// do calls a verb that has no result.
func (c *Client) do(ctx context.Context, method string, params any) error {
	_, err := call[none](ctx, c, method, params)
	return err
}

// CreateQP makes a queue pair.
func (c *Client) CreateQP(ctx context.Context, q qp.InitAttr) (wqe.QP, error) {
	return call[wqe.QP](ctx, c, "CreateQP", createQP{q})
}

// ModifyQP sets attributes of a queue pair.
func (c *Client) ModifyQP(ctx context.Context, q wqe.QP, attr qp.Attr) error {
	return c.do(ctx, "ModifyQP", modifyQP{QP: q, Attr: attr})
}

// TransitionQP brings a queue pair to another state.
func (c *Client) TransitionQP(ctx context.Context, q wqe.QP, to qp.State, attr qp.Attr) error {
	return c.do(ctx, "TransitionQP", modifyQP{q, to, attr})
}

// QueryQP returns the attributes and the state of a queue pair.
func (c *Client) QueryQP(ctx context.Context, q wqe.QP) (qp.Attr, qp.State, error) {
	a, err := call[attrOf](ctx, c, "QueryQP", ofQP{QP: q})
	return a.Attr, a.State, err
}

// QPAttr returns the attributes of a queue pair, as far as they are known.
func (c *Client) QPAttr(ctx context.Context, q wqe.QP) (qp.Attr, error) {
	a, err := call[attrOf](ctx, c, "QPAttr", ofQP{QP: q})
	return a.Attr, err
}

// DestroyQP destroys a queue pair.
func (c *Client) DestroyQP(ctx context.Context, q wqe.QP) error {
	return c.do(ctx, "DestroyQP", ofQP{QP: q})
}

// PostSend posts a send request.
func (c *Client) PostSend(ctx context.Context, q wqe.QP, r *wqe.SendRequest) error {
	return c.do(ctx, "PostSend", postSend{q, *r})
}

// PostReceive posts a receive request.
func (c *Client) PostReceive(ctx context.Context, q wqe.QP, r *wqe.ReceiveRequest) error {
	return c.do(ctx, "PostReceive", postReceive{QP: q, Request: *r})
}

// Outstanding returns how many requests of a queue pair have not completed.
func (c *Client) Outstanding(ctx context.Context, q wqe.QP) (sends, receives int, err error) {
	o, err := call[outstanding](ctx, c, "Outstanding", ofQP{QP: q})
	return o.Sends, o.Receives, err
}

// DataSegments returns the data segments of a send request.
func (c *Client) DataSegments(ctx context.Context, q wqe.QP, id uint64) ([]wqe.Segment, error) {
	return call[[]wqe.Segment](ctx, c, "DataSegments", ofQP{q, id})
}

// CreateSRQ makes a shared receive queue.
func (c *Client) CreateSRQ(ctx context.Context, pd wqe.PD, depth, segments int) (wqe.SRQ, error) {
	return call[wqe.SRQ](ctx, c, "CreateSRQ", ofSRQ{PD: pd, Depth: depth, Segments: segments})
}

// CreateXRCSRQ makes a shared receive queue in a domain of XRC.
func (c *Client) CreateXRCSRQ(ctx context.Context, pd wqe.PD, domain wqe.XRCD, depth, segments int) (wqe.SRQ, error) {
	return call[wqe.SRQ](ctx, c, "CreateXRCSRQ", ofSRQ{PD: pd, XRCD: domain, Depth: depth, Segments: segments})
}

// ModifySRQ arms the limit of a shared receive queue.
func (c *Client) ModifySRQ(ctx context.Context, srq wqe.SRQ, limit int) error {
	return c.do(ctx, "ModifySRQ", ofSRQ{SRQ: srq, Limit: limit})
}

// DestroySRQ destroys a shared receive queue.
func (c *Client) DestroySRQ(ctx context.Context, srq wqe.SRQ) error {
	return c.do(ctx, "DestroySRQ", ofSRQ{SRQ: srq})
}

// PostSharedReceive posts a request to a shared receive queue.
func (c *Client) PostSharedReceive(ctx context.Context, srq wqe.SRQ, r *wqe.ReceiveRequest) error {
	return c.do(ctx, "PostSharedReceive", postReceive{SRQ: srq, Request: *r})
}

// CreateXRCD makes a domain of XRC.
func (c *Client) CreateXRCD(ctx context.Context) (wqe.XRCD, error) {
	return call[wqe.XRCD](ctx, c, "CreateXRCD", nil)
}

// DestroyXRCD destroys a domain of XRC.
func (c *Client) DestroyXRCD(ctx context.Context, domain wqe.XRCD) error {
	return c.do(ctx, "DestroyXRCD", ofXRCD{domain})
}

// CreatePD makes a protection domain.
func (c *Client) CreatePD(ctx context.Context) (wqe.PD, error) {
	return call[wqe.PD](ctx, c, "CreatePD", nil)
}

// DestroyPD destroys a protection domain.
func (c *Client) DestroyPD(ctx context.Context, pd wqe.PD) error {
	return c.do(ctx, "DestroyPD", ofPD{pd})
}

// RegisterMR registers memory.
func (c *Client) RegisterMR(ctx context.Context, mr hcaagent.NewMR) (id wqe.MR, lkey, rkey uint32, err error) {
	k, err := call[keys](ctx, c, "RegisterMR", mr)
	return k.MR, k.LKey, k.RKey, err
}

// DeregisterMR takes the keys of a region back.
func (c *Client) DeregisterMR(ctx context.Context, mr wqe.MR) error {
	return c.do(ctx, "DeregisterMR", ofMR{mr})
}

// AllocateMW makes an unbound window of type 1 or 2.
func (c *Client) AllocateMW(ctx context.Context, pd wqe.PD, windowType int) (id wqe.MW, rkey uint32, err error) {
	k, err := call[keys](ctx, c, "AllocateMW", ofMW{PD: pd, Type: windowType})
	return k.MW, k.RKey, err
}

// DeallocateMW destroys a window.
func (c *Client) DeallocateMW(ctx context.Context, mw wqe.MW) error {
	return c.do(ctx, "DeallocateMW", ofMW{MW: mw})
}

// CreateAH makes an address handle.
func (c *Client) CreateAH(ctx context.Context, pd wqe.PD, v wqe.AddressVector) (wqe.AH, error) {
	return call[wqe.AH](ctx, c, "CreateAH", ofAH{PD: pd, Vector: &v})
}

// ModifyAH gives an address handle another address vector.
func (c *Client) ModifyAH(ctx context.Context, ah wqe.AH, v wqe.AddressVector) error {
	return c.do(ctx, "ModifyAH", ofAH{AH: ah, Vector: &v})
}

// QueryAH returns the address vector of an address handle.
func (c *Client) QueryAH(ctx context.Context, ah wqe.AH) (wqe.AddressVector, error) {
	return call[wqe.AddressVector](ctx, c, "QueryAH", ofAH{AH: ah})
}

// DestroyAH destroys an address handle.
func (c *Client) DestroyAH(ctx context.Context, ah wqe.AH) error {
	return c.do(ctx, "DestroyAH", ofAH{AH: ah})
}

// AttachMulticast has a queue pair receive what is sent to a group.
func (c *Client) AttachMulticast(ctx context.Context, q wqe.QP, group packet.Addr) error {
	return c.do(ctx, "AttachMulticast", ofGroup{q, group})
}

// DetachMulticast ends that.
func (c *Client) DetachMulticast(ctx context.Context, q wqe.QP, group packet.Addr) error {
	return c.do(ctx, "DetachMulticast", ofGroup{q, group})
}

// SetMemory stores data in a range, by one call for each 128 KiB.
func (c *Client) SetMemory(ctx context.Context, m wqe.Memory, data []byte) error {
	if uint64(len(data)) > m.Length {
		return fmt.Errorf("remote: %d bytes into a range of %d", len(data), m.Length)
	}
	for first := true; first || len(data) > 0; first = false {
		n := min(len(data), mostData)
		part := m
		if n < len(data) {
			part.Length = uint64(n)
		}
		if err := c.do(ctx, "SetMemory", ofMemory{Memory: part, Data: data[:n]}); err != nil {
			return err
		}
		data = data[n:]
		m.VA += uint64(n)
		m.Length -= uint64(n)
	}
	return nil
}

// MemoryData copies what a range holds, by one call for each 128 KiB.
func (c *Client) MemoryData(ctx context.Context, m wqe.Memory, into []byte) (int, error) {
	done := 0
	for first := true; first || len(into) > 0; first = false {
		n := min(len(into), mostData)
		part := m
		if n < len(into) {
			part.Length = min(m.Length, uint64(n))
		}
		data, err := call[[]byte](ctx, c, "MemoryData", ofMemory{Memory: part, Length: n})
		if len(data) > n {
			data = data[:n]
		}
		done += copy(into, data)
		if err != nil || len(data) < n || m.Length <= uint64(n) {
			return done, err
		}
		into = into[n:]
		m.VA += uint64(n)
		m.Length -= uint64(n)
	}
	return done, nil
}

// MemoryAccess returns nil if the queue pair may access the range in this way.
func (c *Client) MemoryAccess(ctx context.Context, q wqe.QP, m wqe.Memory, access wqe.Access) error {
	return c.do(ctx, "MemoryAccess", ofMemory{Memory: m, QP: q, Access: access})
}
