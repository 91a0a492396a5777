package upper

import (
	"encoding/binary"
	"fmt"
)

// rpc is RPC over RDMA version 1 (RFC 8166), with the names of NFS (RFC 8267). A SEND begins with the transport header: XID, version, credits, procedure and the chunk
// lists, then comes the RPC message (RFC 5531) unless it is in a chunk.
type rpc struct{}

const (
	rpcVersion = 1 // of RPC over RDMA
	// mostCredits and mostSegments are more than any implementation grants or sends: 1 MiB in pages of 4 KiB are 256 segments.
	mostCredits  = 1 << 16
	mostSegments = 512
	mostAuth     = 400 // bytes of a credential or verifier (RFC 5531)
	flavorGSS    = 6

	// rdma_proc
	procMsg   = 0
	procNoMsg = 1
	procMsgP  = 2
	procDone  = 3
	procError = 4

	rpcCall      = 0
	rpcReply     = 1
	rpcMsgLeast  = 28 // a header without chunks
	programNFS   = 100003
	programMount = 100005
	programNLM   = 100021
	programACL   = 100227
	callbacks    = 0x40000000 // the first of the transient programs, which NFSv4 callbacks are
)

func (rpc) Name() string     { return "RPC over RDMA" }
func (rpc) Ports() []uint16  { return []uint16{20049} }
func (rpc) Answered() bool   { return true }
func (rpc) Headers() int     { return 0 } // the decoder says itself how far it needs them
func (rpc) Decoder() Decoder { return &rpcDecoder{} }

func plausibleRPC(b *[leastHead]byte) bool {
	return binary.BigEndian.Uint32(b[4:]) == rpcVersion && binary.BigEndian.Uint32(b[12:]) <= procError
}

// rpcHeader is what is needed of a message.
type rpcHeader struct {
	xid, proc uint32
	credits   uint32
	whole     bool // the chunk lists were captured
	reads     bool // there is a read list
	inline    bool // and the beginning of the RPC message, which is the rest
	kind      uint32
	rest      xdr // after the RPC message type
}

// decode reads a header, and gives each segment of its chunks to see, and whether it is of the read list. It reports whether that is one.
func (h *rpcHeader) decode(b []byte, see func(addr uint64, rkey, length uint32, read bool)) bool {
	x := xdr{b: b}
	h.xid = x.word()
	version, credits := x.word(), x.word()
	h.proc, h.credits = x.word(), credits
	if x.short || version != rpcVersion || credits == 0 || credits > mostCredits || h.proc > procError {
		return false
	}
	switch h.proc {
	case procDone, procError:
		h.whole, h.rest = true, x
		return true
	case procMsgP:
		x.skip(8) // alignment and threshold
	}
	list := x
	h.reads = list.word() == 1
	if !chunks(&x, see) {
		return x.short // cut, or no list
	}
	h.whole = true
	if h.proc == procNoMsg {
		return true
	}
	xid := x.word()
	h.kind = x.word()
	if x.short {
		return true
	}
	h.inline, h.rest = true, x
	return xid == h.xid && h.kind <= rpcReply
}

// chunks reads the read list, the write list and the reply chunk. It reports whether they are such, and all there.
func chunks(x *xdr, see func(addr uint64, rkey, length uint32, read bool)) bool {
	segment := func(read bool) bool {
		rkey, length := x.word(), x.word()
		addr := x.double()
		if x.short {
			return false
		}
		if see != nil {
			see(addr, rkey, length, read)
		}
		return true
	}
	array := func() bool {
		n := x.word()
		if x.short || n > mostSegments {
			return false
		}
		for range n {
			if !segment(false) {
				return false
			}
		}
		return true
	}
	more := x.word()
	for ; more == 1; more = x.word() {
		x.word() // position
		if !segment(true) {
			return false
		}
	}
	if more != 0 {
		return false
	}
	for more = x.word(); more == 1; more = x.word() {
		if !array() {
			return false
		}
	}
	if more != 0 {
		return false
	}
	switch reply := x.word(); {
	case reply == 1:
		return array()
	case reply != 0:
		return false
	}
	return !x.short
}

// Fit takes a message whose chunk lists make sense and whose XID comes twice, which is a call of RPC version 2 or the reply to one.
func (rpc) Fit(m *Message) Fit {
	if m.Kind != Send || len(m.Head) < rpcMsgLeast {
		return NoFit
	}
	var h rpcHeader
	switch ok := h.decode(m.Head, nil); {
	case !ok || !h.whole || h.xid == 0:
		return NoFit
	case h.proc == procNoMsg:
		return Likely
	case !h.inline:
		return NoFit
	case h.kind == rpcCall && h.rest.word() == 2 && programKnown(h.rest.word()):
		return Recognized
	case h.kind == rpcReply && h.rest.word() <= 1 && h.rest.word() < 16 && h.rest.word() <= mostAuth:
		return Strong
	}
	return NoFit
}

// programKnown reports whether a program is one of those that use this transport.
func programKnown(n uint32) bool {
	return n == programNFS || n == programMount || n == programNLM || n == programACL || n >= callbacks && n < 2*callbacks
}

// rpcDecoder needs no state but for the calls that an end grants: a call and its reply have the same XID, and either end may call.
type rpcDecoder struct {
	grants grants
	first  firstCalls
}

// What Command.Code of an RPC has: a byte for each operation of a COMPOUND in Arg, else program and procedure.
const (
	codeLong     = 1 << 31 // the call is in a chunk
	codeCompound = 1 << 30
	codeNFS      = 1 << 29
	codeCallback = 1 << 28
	codeSealed   = 1 << 27 // arguments and result may be wrapped (RPCSEC_GSS)
	codeVersion  = 16      // where the version is
)

func (d *rpcDecoder) Message(m *Message, t *Tracker) bool {
	var h rpcHeader
	if m.Kind != Send || !h.decode(m.Head, nil) {
		return false
	}
	id, peer := uint64(h.xid), 1-m.From
	switch {
	case h.proc == procDone:
	case m.Cut() && h.misses():
		t.Cut()
	case h.proc == procError:
		t.End(peer, id, statusError|h.rest.word())
	case h.inline && h.kind == rpcReply:
		d.grants.replied(m, t, h.credits, t.End(peer, id, replyStatus(&h.rest, t.Find(peer, id))))
	case h.proc == procNoMsg && h.whole && !h.reads: // the reply is in a chunk; a call is in one that is read
		d.grants.replied(m, t, h.credits, t.End(peer, id, 0))
	default:
		c, handle := Command{ID: id, Code: codeLong}, []byte(nil)
		if h.inline {
			c.Code, c.Arg, handle = call(&h.rest)
		}
		begun, again := t.repeat(&c)
		if !again {
			begun = t.Begin(c)
			d.grants.called(m, t)
			d.first.add(m, id)
		}
		if key, head := fileSystem(handle); key != 0 && !again {
			t.On(begun, key, head)
		}
		fetches := !again || t.renamed(begun)
		var whole rpcHeader
		whole.decode(m.Head, func(addr uint64, rkey, length uint32, read bool) {
			if read && h.whole && fetches {
				t.Fetch(begun, addr, rkey, length)
			} else {
				t.MemoryOf(begun, addr, rkey, length)
			}
		})
	}
	return true
}

// misses reports whether a header that was cut lacks what tells a call from a reply, or which procedure is called.
func (h *rpcHeader) misses() bool {
	if h.proc == procError || h.whole && h.proc == procNoMsg {
		return false
	}
	rest := h.rest
	rest.skip(12) // versions of RPC and of the program, which it has too, and the procedure
	rest.word()
	return !h.inline || h.kind == rpcCall && rest.short
}

// call reads which procedure is called, after the message type, and the file handle that it is about first; nil: none is known.
func call(x *xdr) (code uint32, arg uint64, handle []byte) {
	x.word() // version of RPC
	program, version, procedure := x.word(), x.word(), x.word()
	if x.short {
		return 0, 0, nil
	}
	code = procedure&0xFFFF | version&0xFF<<codeVersion
	if x.word() == flavorGSS {
		code |= codeSealed
	}
	x.opaque(mostAuth)
	x.word() // verifier
	x.opaque(mostAuth)
	switch {
	case program == programNFS && version == 4 && procedure == 1 && code&codeSealed != 0:
		return code | codeNFS | codeCompound, 0, nil
	case program == programNFS && version == 4 && procedure == 1:
		arg, handle = compound(x)
		return code | codeNFS | codeCompound, arg, handle
	case program == programNFS:
		if version == 3 && procedure != 0 && code&codeSealed == 0 {
			handle = x.taken(mostFileHandle)
		}
		return code | codeNFS, uint64(program), handle
	case program >= callbacks && program < 2*callbacks:
		return code | codeCallback, uint64(program), nil
	}
	return code, uint64(program), nil
}

// The status of an RPC: what kind of failure it is, and the number that says which.
const (
	statusNFS      = 1 << 16
	statusAccept   = 2 << 16
	statusRejected = 3 << 16
	statusError    = 4 << 16
)

// replyStatus reads the status of a reply to a command, after the message type: of NFS, which has its own as the first word of the result, that too.
func replyStatus(x *xdr, c *Command) uint32 {
	if x.word() != 0 {
		return statusRejected | x.word()&0xFFFF
	}
	x.word()
	x.opaque(mostAuth)
	accepted := x.word()
	switch {
	case x.short:
		return 0
	case accepted != 0:
		return statusAccept | accepted&0xFFFF
	case c == nil || c.Code&(codeNFS|codeLong|codeSealed) != codeNFS || c.Code&0xFFFF == 0: // NULL has no result
		return 0
	}
	if status := x.word(); status != 0 && !x.short {
		return statusNFS | status&0xFFFF
	}
	return 0
}

// Class is by program, version and procedure, and of a COMPOUND by its operations.
func (d *rpcDecoder) Class(c *Command) (uint32, uint64) { return c.Code, c.Arg }

func (d *rpcDecoder) Describe(c *Command) string {
	return fmt.Sprintf("%s, XID 0x%08x", d.Name(c), c.ID)
}

func (d *rpcDecoder) Name(c *Command) string {
	version, procedure := c.Code>>codeVersion&0xFF, c.Code&0xFFFF
	what := ""
	switch {
	case c.Code&codeLong != 0:
		what = "RPC call of which the header is in a chunk"
	case c.Code&codeCompound != 0:
		what = "NFS version 4 COMPOUND"
		if ops := operations(c.Arg); ops != "" {
			what += " (" + ops + ")"
		}
	case c.Code&codeNFS != 0:
		what = fmt.Sprintf("NFS version %d %s", version, nfsProcedure(version, procedure))
	case c.Code&codeCallback != 0:
		what = fmt.Sprintf("RPC callback, program 0x%x, procedure %d", c.Arg, procedure)
	case c.Arg == programMount || c.Arg == programNLM || c.Arg == programACL:
		what = fmt.Sprintf("%s version %d procedure %d", map[uint64]string{programMount: "MOUNT", programNLM: "NLM", programACL: "NFS ACL"}[c.Arg], version, procedure)
	default:
		what = fmt.Sprintf("RPC program %d, version %d, procedure %d", c.Arg, version, procedure)
	}
	return what
}

func (d *rpcDecoder) Status(c *Command) string {
	n := c.Status & 0xFFFF
	switch c.Status &^ 0xFFFF {
	case statusNFS:
		if name, ok := nfsStatus[n]; ok {
			return name
		}
		return fmt.Sprintf("NFS status %d", n)
	case statusAccept:
		if int(n) < len(acceptStatus) {
			return acceptStatus[n]
		}
		return fmt.Sprintf("RPC accept status %d", n)
	case statusRejected:
		return fmt.Sprintf("RPC rejected, status %d", n)
	}
	switch n {
	case 1:
		return "RDMA_ERROR: ERR_VERS"
	case 2:
		return "RDMA_ERROR: ERR_CHUNK"
	}
	return fmt.Sprintf("RDMA_ERROR %d", n)
}

// acceptStatus is by accept_stat (RFC 5531).
var acceptStatus = [...]string{"SUCCESS", "PROG_UNAVAIL", "PROG_MISMATCH", "PROC_UNAVAIL", "GARBAGE_ARGS", "SYSTEM_ERR"}
