package soft

import (
	"context"
	"fmt"

	"ibwitness/hcaagent"
	"ibwitness/wqe"
)

// CreateXRCD makes a domain of XRC.
func (h *HCA) CreateXRCD(ctx context.Context) (wqe.XRCD, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	domain := wqe.XRCD(h.object())
	h.xrcs[domain] = 0
	return domain, nil
}

// DestroyXRCD destroys a domain that nothing belongs to.
func (h *HCA) DestroyXRCD(ctx context.Context, domain wqe.XRCD) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !h.hasXRCD(domain) {
		return notFound("XRC domain", uint32(domain))
	}
	if h.xrcs[domain] > 0 {
		return fmt.Errorf("soft: XRC domain %d: %w", domain, hcaagent.ErrBusy)
	}
	delete(h.xrcs, domain)
	return nil
}

// CreateXRCSRQ makes a shared receive queue in a domain of XRC.
func (h *HCA) CreateXRCSRQ(ctx context.Context, pd wqe.PD, domain wqe.XRCD, depth, segments int) (wqe.SRQ, error) {
	if !h.hasXRCD(domain) {
		return 0, notFound("XRC domain", uint32(domain))
	}
	return h.createSRQ(ctx, pd, domain, depth, segments)
}

func (h *HCA) hasXRCD(domain wqe.XRCD) bool {
	_, ok := h.xrcs[domain]
	return ok
}

// inXRCD counts an object of a domain in or out.
func (h *HCA) inXRCD(domain wqe.XRCD, n int) {
	if domain != 0 {
		h.xrcs[domain] += n
	}
}
