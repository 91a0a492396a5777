package scenario

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// sendOps are the operations of send queues, by the names that the event log has for them.
var sendOps = map[string]wqe.SendOp{
	"send": wqe.OpSend, "send_imm": wqe.OpSendImm, "send_inv": wqe.OpSendInv, "write": wqe.OpWrite,
	"write_imm": wqe.OpWriteImm, "read": wqe.OpRead, "cmp_swap": wqe.OpCmpSwap, "fetch_add": wqe.OpFetchAdd,
	"flush": wqe.OpFlush, "atomic_write": wqe.OpAtomicWrite,
}

var qpStates = map[string]qp.State{
	"RESET": qp.Reset, "INIT": qp.Init, "RTR": qp.RTR, "RTS": qp.RTS, "SQD": qp.SQD, "ERR": qp.Err,
}

var placements = map[string]uint8{"global": 1, "persistent": 2, "both": 3}

// work takes one piece of work.
func (p *parser) work(n *yaml.Node) Work {
	w := Work{Line: n.Line, Repeat: 1, Place: 1}
	var op string
	signaled, solicited, fence, inline := true, false, false, false
	p.Fields(n, "work", map[string]setter{
		"qp": p.Text(&w.QP), "srq": p.Text(&w.SRQ), "op": p.Text(&op), "at": p.Duration(&w.At), "every": p.Duration(&w.Every),
		"repeat": number(p, &w.Repeat, 1, 1e6), "length": numbers(p, &w.Lengths, 1<<30), "imm": number(p, &w.Imm, 0, 0xffffffff),
		"to": p.Text(&w.To), "offset": number(p, &w.Offset, 0, 1<<62), "bad_key": p.Boolean(&w.BadKey), "spare": p.Boolean(&w.Spare),
		"qkey":    number(p, &w.QKey, 0, 0xffffffff),
		"compare": number(p, &w.Compare, 0, 1<<63), "swap": number(p, &w.SwapAdd, 0, 1<<63), "add": number(p, &w.SwapAdd, 0, 1<<63),
		"signaled": p.Boolean(&signaled), "solicited": p.Boolean(&solicited), "fence": p.Boolean(&fence), "inline": p.Boolean(&inline),
		"state": choice(p, &w.State, qpStates), "placement": choice(p, &w.Place, placements), "whole": p.Boolean(&w.FlushAll),
	})
	for flag, set := range map[wqe.SendFlags]bool{
		wqe.Signaled: signaled, wqe.Solicited: solicited, wqe.Fence: fence, wqe.Inline: inline,
	} {
		if set {
			w.Flags |= flag
		}
	}
	switch send, ok := sendOps[op]; {
	case op == "receive":
		w.Action = PostReceive
	case op == "look":
		w.Action = Look
	case op == "modify":
		w.Action = Modify
	case ok:
		w.Op = send
		switch send {
		case wqe.OpCmpSwap, wqe.OpFetchAdd, wqe.OpAtomicWrite:
			if w.Lengths == nil {
				w.Lengths = []uint32{8}
			}
		}
	default:
		p.Fail(n.Line, "op %q: give receive, look, modify or one of %s", op, strings.Join(slices.Sorted(maps.Keys(sendOps)), ", "))
	}
	return w
}

func (p *parser) referWork(s *Scenario, w *Work) {
	if w.Action == PostReceive && w.QP == "" {
		if s.SRQ(w.SRQ) == nil {
			p.Fail(w.Line, "a receive request for SRQ %q, which there is none of: name one of srqs, or a qp", w.SRQ)
		}
		return
	}
	q := s.QP(w.QP)
	if q == nil {
		p.Fail(w.Line, "work for QP %q, which there is none of: name one of qps", w.QP)
		return
	}
	if w.Action == PostSend {
		p.referDestination(s, q, w)
	}
}

// referDestination checks that a send request names a destination where its queue pair q needs one.
func (p *parser) referDestination(s *Scenario, q *QP, w *Work) {
	if a, err := packet.ParseAddr(w.To); q.Type == qp.TypeUD && err == nil && a.IsMulticast() && !a.IsLID() {
		w.Group = a
		return
	}
	switch to := s.QP(w.To); {
	case q.Type == qp.TypeUD && (to == nil || to.Type != qp.TypeUD):
		p.Fail(w.Line, "to %q: a datagram goes to a QP of type UD; name one of qps", w.To)
	case q.Type == qp.TypeXRCInitiator && s.SRQ(w.To) == nil:
		p.Fail(w.Line, "to %q: a message on XRC names an SRQ of the peer; name one of srqs", w.To)
	case q.Type != qp.TypeUD && q.Type != qp.TypeXRCInitiator && w.To != "":
		p.Fail(w.Line, "to %q: a connected QP sends to its peer; remove it", w.To)
	}
}
