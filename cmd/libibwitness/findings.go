package main

/*
#include <stdlib.h>
#include "ibwitness.h"
*/
import "C"

import (
	"strings"
	"unsafe"

	"ibwitness/rule"
)

//export ibw_go_next
func ibw_go_next(n C.uint32_t, out *C.ibw_finding) C.int {
	e := of(n)
	for _, p := range e.kept {
		C.free(p)
	}
	e.kept = e.kept[:0]
	f, ok := e.run.Next()
	*e.waiting = C.int32_t(min(e.run.Waiting(), 1<<30))
	if !ok {
		return 0
	}
	text := func(s string) *C.char {
		p := C.CString(s)
		e.kept = append(e.kept, unsafe.Pointer(p))
		return p
	}
	row := f.Rule.Row()
	*out = C.ibw_finding{
		size: C.sizeof_ibw_finding, id: C.uint32_t(f.ID), change: C.int32_t(f.Change) + C.IBW_NEW, waived: flag(f.Waived), tap: C.uint32_t(f.Tap),
		psn: C.uint32_t(f.PSN), psn_known: flag(f.HasBTH), accused_qpn: C.uint32_t(f.Accused.QPN), accused_qpn_known: flag(f.Accused.QPNKnown),
		peer_qpn: C.uint32_t(f.Peer.QPN), peer_qpn_known: flag(f.Peer.QPNKnown), frame: C.uint64_t(f.Frame), time_ps: C.uint64_t(f.TimePS), seen_ps: C.uint64_t(f.SeenPS),
		rule: text(row.ID), name: text(row.Name), reference: text(row.Ref), accused: text(f.AccusedText()), peer: text(f.PeerText()), expected: text(f.Expected),
		actual: text(f.Actual), detail: text(f.Detail), text: text(f.Text), comparison: text(f.Fields()),
	}
	switch f.Class {
	case rule.Violation:
		out.cls = C.IBW_VIOLATION
	case rule.Unproven:
		out.cls = C.IBW_UNPROVEN
	default:
		out.cls = C.IBW_EVENT
	}
	switch row.Severity {
	case rule.Error:
		out.severity = C.IBW_ERROR
	case rule.Warning:
		out.severity = C.IBW_WARNING
	default:
		out.severity = C.IBW_INFO
	}
	return 1
}

//export ibw_go_outstanding
func ibw_go_outstanding(n C.uint32_t, json *C.char, size C.size_t) C.int {
	list := of(n).run.Outstanding()
	if json == nil || size == 0 {
		return C.int(len(list))
	}
	out := bytesOf(unsafe.Pointer(json), size)
	at := 0
	put := func(s string) { at += copy(out[at:], s) }
	if size < 3 {
		out[0] = 0
		return C.int(len(list))
	}
	put("[")
	for i := range list {
		text := string(list[i].JSON())
		if i > 0 {
			text = "," + text
		}
		if at+len(text)+2 > len(out) {
			break
		}
		put(text)
	}
	put("]\x00")
	return C.int(len(list))
}

//export ibw_go_end
func ibw_go_end(n C.uint32_t, at C.uint64_t) C.int {
	e := of(n)
	found, err := e.run.End(uint64(at))
	return e.status(found, err)
}

//export ibw_go_doubts
func ibw_go_doubts(n C.uint32_t, text *C.char, size C.size_t) C.int {
	list := of(n).run.Doubts()
	if text != nil && size > 0 {
		out := bytesOf(unsafe.Pointer(text), size)
		out[copy(out[:len(out)-1], strings.Join(list, "\n"))] = 0
	}
	return C.int(len(list))
}

//export ibw_go_errors
func ibw_go_errors(n C.uint32_t) C.int { return C.int(min(of(n).run.Errors(), 1<<30)) }

//export ibw_go_now
func ibw_go_now(n C.uint32_t) C.uint64_t { return C.uint64_t(of(n).run.Now()) }

//export ibw_go_report
func ibw_go_report(n C.uint32_t, format, path *C.char) C.int {
	e := of(n)
	return e.status(0, e.run.Report(C.GoString(format), C.GoString(path)))
}

//export ibw_go_covered
func ibw_go_covered(n C.uint32_t, id *C.char, exercised, violated *C.uint64_t) C.int {
	e := of(n)
	x, v, err := e.run.Covered(C.GoString(id))
	if err == nil {
		if exercised != nil {
			*exercised = C.uint64_t(x)
		}
		if violated != nil {
			*violated = C.uint64_t(v)
		}
	}
	return e.status(0, err)
}
