package realtime

import (
	"context"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// verb has the adapter carry out a verb that returns only an error.
func (a *Adapter) verb(ctx context.Context, f func() error) error {
	var err error
	return first(a.do(ctx, func() { err = f() }), &err)
}

// made has the adapter carry out a verb that returns something.
func made[T any](ctx context.Context, a *Adapter, f func() (T, error)) (v T, err error) {
	failed := a.do(ctx, func() { v, err = f() })
	return v, first(failed, &err)
}

// first returns why a verb was not carried out, or else its error.
func first(failed error, err *error) error {
	if failed != nil {
		return failed
	}
	return *err
}

// CreateQP makes a queue pair.
func (a *Adapter) CreateQP(ctx context.Context, q qp.InitAttr) (wqe.QP, error) {
	return made(ctx, a, func() (wqe.QP, error) { return a.hca.CreateQP(ctx, q) })
}

// ModifyQP sets attributes of a queue pair.
func (a *Adapter) ModifyQP(ctx context.Context, q wqe.QP, attr qp.Attr) error {
	return a.verb(ctx, func() error { return a.hca.ModifyQP(ctx, q, attr) })
}

// TransitionQP brings a queue pair to another state.
func (a *Adapter) TransitionQP(ctx context.Context, q wqe.QP, to qp.State, attr qp.Attr) error {
	return a.verb(ctx, func() error { return a.hca.TransitionQP(ctx, q, to, attr) })
}

// QPAttr returns the attributes of a queue pair.
func (a *Adapter) QPAttr(ctx context.Context, q wqe.QP) (qp.Attr, error) {
	return made(ctx, a, func() (qp.Attr, error) { return a.hca.QPAttr(ctx, q) })
}

// DestroyQP destroys a queue pair.
func (a *Adapter) DestroyQP(ctx context.Context, q wqe.QP) error {
	return a.verb(ctx, func() error { return a.hca.DestroyQP(ctx, q) })
}

// PostSend posts a send request.
func (a *Adapter) PostSend(ctx context.Context, q wqe.QP, r *wqe.SendRequest) error {
	return a.verb(ctx, func() error { return a.hca.PostSend(ctx, q, r) })
}

// PostReceive posts a receive request.
func (a *Adapter) PostReceive(ctx context.Context, q wqe.QP, r *wqe.ReceiveRequest) error {
	return a.verb(ctx, func() error { return a.hca.PostReceive(ctx, q, r) })
}

// DataSegments returns the data segments of a send request.
func (a *Adapter) DataSegments(ctx context.Context, q wqe.QP, id uint64) ([]wqe.Segment, error) {
	return made(ctx, a, func() ([]wqe.Segment, error) { return a.hca.DataSegments(ctx, q, id) })
}

// CreateCQ makes a completion queue.
func (a *Adapter) CreateCQ(ctx context.Context, depth int) (wqe.CQ, error) {
	return made(ctx, a, func() (wqe.CQ, error) { return a.hca.CreateCQ(ctx, depth) })
}

// ResizeCQ changes the depth of a completion queue.
func (a *Adapter) ResizeCQ(ctx context.Context, number wqe.CQ, depth int) error {
	return a.verb(ctx, func() error { return a.hca.ResizeCQ(ctx, number, depth) })
}

// DestroyCQ destroys a completion queue.
func (a *Adapter) DestroyCQ(ctx context.Context, number wqe.CQ) error {
	return a.verb(ctx, func() error { return a.hca.DestroyCQ(ctx, number) })
}

// Poll moves completions out of a queue.
func (a *Adapter) Poll(ctx context.Context, number wqe.CQ, into []cq.Completion) (int, error) {
	return made(ctx, a, func() (int, error) { return a.hca.Poll(ctx, number, into) })
}

// Completions moves completions that Poll has returned into into.
func (a *Adapter) Completions(ctx context.Context, number wqe.CQ, into []hcaagent.Completed) (int, error) {
	return made(ctx, a, func() (int, error) { return a.hca.Completions(ctx, number, into) })
}

// RequestNotification arms a completion queue.
func (a *Adapter) RequestNotification(ctx context.Context, number wqe.CQ, arm cq.Arm) error {
	return a.verb(ctx, func() error { return a.hca.RequestNotification(ctx, number, arm) })
}

// CreateSRQ makes a shared receive queue.
func (a *Adapter) CreateSRQ(ctx context.Context, pd wqe.PD, depth, segments int) (wqe.SRQ, error) {
	return made(ctx, a, func() (wqe.SRQ, error) { return a.hca.CreateSRQ(ctx, pd, depth, segments) })
}

// CreateXRCD makes a domain of XRC.
func (a *Adapter) CreateXRCD(ctx context.Context) (wqe.XRCD, error) {
	return made(ctx, a, func() (wqe.XRCD, error) { return a.hca.CreateXRCD(ctx) })
}

// DestroyXRCD destroys a domain of XRC.
func (a *Adapter) DestroyXRCD(ctx context.Context, domain wqe.XRCD) error {
	return a.verb(ctx, func() error { return a.hca.DestroyXRCD(ctx, domain) })
}

// CreateXRCSRQ makes a shared receive queue in a domain of XRC.
func (a *Adapter) CreateXRCSRQ(ctx context.Context, pd wqe.PD, domain wqe.XRCD, depth, segments int) (wqe.SRQ, error) {
	return made(ctx, a, func() (wqe.SRQ, error) { return a.hca.CreateXRCSRQ(ctx, pd, domain, depth, segments) })
}

// ModifySRQ arms the limit of a shared receive queue.
func (a *Adapter) ModifySRQ(ctx context.Context, srq wqe.SRQ, limit int) error {
	return a.verb(ctx, func() error { return a.hca.ModifySRQ(ctx, srq, limit) })
}

// DestroySRQ destroys a shared receive queue.
func (a *Adapter) DestroySRQ(ctx context.Context, srq wqe.SRQ) error {
	return a.verb(ctx, func() error { return a.hca.DestroySRQ(ctx, srq) })
}

// PostSharedReceive posts a request to a shared receive queue.
func (a *Adapter) PostSharedReceive(ctx context.Context, srq wqe.SRQ, r *wqe.ReceiveRequest) error {
	return a.verb(ctx, func() error { return a.hca.PostSharedReceive(ctx, srq, r) })
}

// CreatePD makes a protection domain.
func (a *Adapter) CreatePD(ctx context.Context) (wqe.PD, error) {
	return made(ctx, a, func() (wqe.PD, error) { return a.hca.CreatePD(ctx) })
}

// DestroyPD destroys a protection domain.
func (a *Adapter) DestroyPD(ctx context.Context, pd wqe.PD) error {
	return a.verb(ctx, func() error { return a.hca.DestroyPD(ctx, pd) })
}

// DeregisterMR takes the keys of a region back.
func (a *Adapter) DeregisterMR(ctx context.Context, mr wqe.MR) error {
	return a.verb(ctx, func() error { return a.hca.DeregisterMR(ctx, mr) })
}

// DeallocateMW destroys a window.
func (a *Adapter) DeallocateMW(ctx context.Context, mw wqe.MW) error {
	return a.verb(ctx, func() error { return a.hca.DeallocateMW(ctx, mw) })
}

// CreateAH makes an address handle.
func (a *Adapter) CreateAH(ctx context.Context, pd wqe.PD, v wqe.AddressVector) (wqe.AH, error) {
	return made(ctx, a, func() (wqe.AH, error) { return a.hca.CreateAH(ctx, pd, v) })
}

// ModifyAH gives an address handle another address vector.
func (a *Adapter) ModifyAH(ctx context.Context, ah wqe.AH, v wqe.AddressVector) error {
	return a.verb(ctx, func() error { return a.hca.ModifyAH(ctx, ah, v) })
}

// QueryAH returns the address vector of an address handle.
func (a *Adapter) QueryAH(ctx context.Context, ah wqe.AH) (wqe.AddressVector, error) {
	return made(ctx, a, func() (wqe.AddressVector, error) { return a.hca.QueryAH(ctx, ah) })
}

// DestroyAH destroys an address handle.
func (a *Adapter) DestroyAH(ctx context.Context, ah wqe.AH) error {
	return a.verb(ctx, func() error { return a.hca.DestroyAH(ctx, ah) })
}

// AttachMulticast has a queue pair receive what is sent to a group.
func (a *Adapter) AttachMulticast(ctx context.Context, q wqe.QP, group packet.Addr) error {
	return a.verb(ctx, func() error { return a.hca.AttachMulticast(ctx, q, group) })
}

// DetachMulticast ends that.
func (a *Adapter) DetachMulticast(ctx context.Context, q wqe.QP, group packet.Addr) error {
	return a.verb(ctx, func() error { return a.hca.DetachMulticast(ctx, q, group) })
}

// SetMemory stores data in a range.
func (a *Adapter) SetMemory(ctx context.Context, m wqe.Memory, data []byte) error {
	return a.verb(ctx, func() error { return a.hca.SetMemory(ctx, m, data) })
}

// MemoryData copies what a range holds.
func (a *Adapter) MemoryData(ctx context.Context, m wqe.Memory, into []byte) (int, error) {
	return made(ctx, a, func() (int, error) { return a.hca.MemoryData(ctx, m, into) })
}

// MemoryAccess returns nil if the queue pair may access the range in this way.
func (a *Adapter) MemoryAccess(ctx context.Context, q wqe.QP, m wqe.Memory, access wqe.Access) error {
	return a.verb(ctx, func() error { return a.hca.MemoryAccess(ctx, q, m, access) })
}

// QueryQP returns the attributes and the state of a queue pair.
func (a *Adapter) QueryQP(ctx context.Context, q wqe.QP) (attr qp.Attr, s qp.State, err error) {
	failed := a.do(ctx, func() { attr, s, err = a.hca.QueryQP(ctx, q) })
	return attr, s, first(failed, &err)
}

// Outstanding returns how many requests of a queue pair have not completed.
func (a *Adapter) Outstanding(ctx context.Context, q wqe.QP) (sends, receives int, err error) {
	failed := a.do(ctx, func() { sends, receives, err = a.hca.Outstanding(ctx, q) })
	return sends, receives, first(failed, &err)
}

// RegisterMR registers memory.
func (a *Adapter) RegisterMR(ctx context.Context, mr hcaagent.NewMR) (id wqe.MR, lkey, rkey uint32, err error) {
	failed := a.do(ctx, func() { id, lkey, rkey, err = a.hca.RegisterMR(ctx, mr) })
	return id, lkey, rkey, first(failed, &err)
}

// AllocateMW makes an unbound window of type 1 or 2.
func (a *Adapter) AllocateMW(ctx context.Context, pd wqe.PD, windowType int) (id wqe.MW, rkey uint32, err error) {
	failed := a.do(ctx, func() { id, rkey, err = a.hca.AllocateMW(ctx, pd, windowType) })
	return id, rkey, first(failed, &err)
}
