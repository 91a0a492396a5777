package soft

import "ibwitness/packet"

var (
	readFirst  = fn(packet.ReadRespFirst)
	readMiddle = fn(packet.ReadRespMiddle)
	readLast   = fn(packet.ReadRespLast)
	readOnly   = fn(packet.ReadRespOnly)
	atomicAck  = fn(packet.AtomicAck)
)

// Faults of the responder.
var _ = faults(map[string]*Fault{
	"ackreq-in-ack":           {Text: "sets AckReq in an ACK", Rule: "RC-RSP-008", Responder: true, match: isACK, spoil: func(p *packet.Packet) { p.AckReq = true }},
	"ackreq-in-answer":        {Text: "sets AckReq in a READ response", Rule: "RC-RSP-037", Responder: true, match: readMiddle, spoil: func(p *packet.Packet) { p.AckReq = true }},
	"se-in-ack":               {Text: "sets SE in an ACK", Rule: "RC-RSP-008", Responder: true, match: isACK, spoil: func(p *packet.Packet) { p.SE = true }},
	"ack-with-payload":        {Text: "sends payload in an ACK", Rule: "RC-RSP-008", Responder: true, match: isACK, spoil: resize(4)},
	"ack-beyond":              {Text: "acknowledges a PSN that it has not received", Rule: "RC-RSP-006", Responder: true, match: isACK, spoil: psn(1000)},
	"ack-far-beyond":          {Text: "acknowledges a PSN half the number space away", Rule: "RC-RSP-006", Responder: true, match: isACK, spoil: psn(1 << 23)},
	"wrong-msn":               {Text: "counts one message too many in an ACK", Rule: "RC-RSP-013", Responder: true, match: isACK, spoil: msn(1)},
	"msn-back":                {Text: "lets the MSN go back", Rule: "RC-RSP-013", Responder: true, match: isACK, spoil: msn(-1)},
	"msn-zero":                {Text: "sends MSN 0 in an ACK", Rule: "RC-RSP-013", Responder: true, match: isACK, spoil: func(p *packet.Packet) { p.MSN = 0 }},
	"msn-in-read":             {Text: "sends a wrong MSN in a READ response", Rule: "RC-RSP-013", Responder: true, match: readLast, spoil: msn(50)},
	"msn-in-atomic":           {Text: "sends a wrong MSN in an ATOMIC Acknowledge", Rule: "RC-RSP-013", Responder: true, match: atomicAck, spoil: msn(-1)},
	"wrong-syndrome-reserved": {Text: "sends a syndrome of the reserved type", Rule: "RC-RSP-022", Responder: true, match: isACK, spoil: syndrome(0x40)},
	"syndrome-bit7":           {Text: "sends a syndrome with bit 7 set", Rule: "RC-RSP-022", Responder: true, match: isACK, spoil: syndrome(0x9F)},
	"nak-code-reserved":       {Text: "sends a reserved NAK code", Rule: "RC-RSP-021", Responder: true, match: isACK, spoil: syndrome(0x65)},
	"nak-code-rd":             {Text: "sends the NAK code of RD on RC", Rule: "RC-RSP-021", Responder: true, match: isACK, spoil: syndrome(0x64)},
	"nak-without-gap":         {Text: "reports a sequence error where none was", Rule: "RC-RSP-002", Responder: true, match: isACK, spoil: syndrome(0x60)},
	"rnr-for-write":           {Text: "sends an RNR NAK for a plain WRITE", Rule: "RC-RNR-006", Responder: true, match: ackedWrite, spoil: func(p *packet.Packet) { p.Syndrome = 0x2E; msn(-1)(p) }},
	"ack-becomes-read":        {Text: "answers a SEND with a READ response", Rule: "RC-RES-001", Responder: true, match: isACK, spoil: become(rc(packet.ReadRespOnly))},
	"ack-becomes-atomic":      {Text: "answers a SEND with an ATOMIC Acknowledge", Rule: "RC-RSP-010", Responder: true, match: isACK, spoil: become(rc(packet.AtomicAck))},
	"read-becomes-ack":        {Text: "acknowledges a READ instead of answering it", Rule: "RC-ACK-003", Responder: true, match: readOnly, spoil: become(rc(packet.Acknowledge))},
	"atomic-becomes-ack":      {Text: "acknowledges an atomic instead of answering it", Rule: "RC-ACK-003", Responder: true, match: atomicAck, spoil: become(rc(packet.Acknowledge))},
	"read-first-as-middle":    {Text: "begins the answer to a READ with Middle", Rule: "RC-RES-001", Responder: true, match: readFirst, spoil: become(rc(packet.ReadRespMiddle))},
	"read-middle-as-last":     {Text: "sends Last within the answer to a READ", Rule: "RC-RES-001", Responder: true, match: readMiddle, spoil: become(rc(packet.ReadRespLast), syndrome(0x1F))},
	"read-last-as-only":       {Text: "ends the answer to a READ with Only", Rule: "RC-RES-001", Responder: true, match: readLast, spoil: become(rc(packet.ReadRespOnly))},
	"read-only-as-first":      {Text: "answers a READ of one packet with First", Rule: "RC-RES-001", Responder: true, match: readOnly, spoil: become(rc(packet.ReadRespFirst))},
	"read-psn":                {Text: "skips a PSN in the answer to a READ", Rule: "RC-RES-001", Responder: true, match: readMiddle, spoil: psn(1)},
	"read-middle-missing":     {Text: "leaves out a packet of the answer to a READ", Rule: "RC-RES-001", Responder: true, match: readMiddle, drop: true},
	"read-last-missing":       {Text: "does not finish the answer to a READ", Rule: "RC-RSP-007", Responder: true, match: readLast, drop: true},
	"atomic-unanswered":       {Text: "does not answer an atomic and goes on", Rule: "RC-RSP-007", Responder: true, match: atomicAck, drop: true},
	"read-short-middle":       {Text: "sends a READ response Middle that is not full", Rule: "RC-RES-002", Responder: true, match: readMiddle, spoil: resize(252)},
	"read-long-last":          {Text: "sends more than was asked for", Rule: "RC-RES-002", Responder: true, match: readOnly, spoil: func(p *packet.Packet) { resize(len(p.Payload) + 4)(p) }},
	"read-short-last":         {Text: "sends less than was asked for", Rule: "RC-RES-002", Responder: true, match: readLast, spoil: func(p *packet.Packet) { resize(len(p.Payload) - 4)(p) }},
	"nak-in-read":             {Text: "sends a NAK syndrome in a READ response", Rule: "RC-RES-004", Responder: true, match: readFirst, spoil: syndrome(0x60)},
	"rnr-in-atomic":           {Text: "sends an RNR syndrome in an ATOMIC Acknowledge", Rule: "RC-RES-004", Responder: true, match: atomicAck, spoil: syndrome(0x2E)},
	"atomic-psn":              {Text: "answers an atomic at another PSN", Rule: "RC-RSP-010", Responder: true, match: atomicAck, spoil: psn(1)},
	"credits-not-negotiated":  {Text: "gives credits on a connection without flow control", Rule: "RC-CRD-006", Responder: true, match: isACK, spoil: syndrome(10)},
	"credits-taken-back":      {Text: "gives no credits after it has given many", Rule: "RC-CRD-005", Responder: true, Needs: Credits, match: manyCredits, spoil: syndrome(0)},
	"no-ack":                  {Text: "does not acknowledge a request that asked for it", Rule: "RC-RSP-005", Responder: true, Needs: Sparse, match: isACK, drop: true},
	"no-nak":                  {Text: "is silent about a gap in PSNs", Rule: "RC-RSP-002", Responder: true, Needs: LostRequest, match: ackOf(packet.NAK), drop: true},
	"nak-twice":               {Text: "sends a second NAK for one gap", Rule: "RC-RSP-003", Responder: true, Needs: LostRequest},
	"nak-late-psn":            {Text: "reports a PSN after the one that is missing", Rule: "RC-RSP-006", Responder: true, Needs: LostRequest, match: ackOf(packet.NAK), spoil: psn(1)},
	"nak-msn":                 {Text: "counts the refused message in a NAK", Rule: "RC-RSP-015", Responder: true, Needs: LostRequest, match: ackOf(packet.NAK), spoil: msn(-3)},
	"gap-executed":            {Text: "carries on over a gap in PSNs", Rule: "RC-RSP-006", Responder: true, Needs: LostRequest},
	"rnr-nak-psn":             {Text: "sends an RNR NAK for the PSN before", Rule: "RC-RSP-018", Responder: true, Needs: NotReady, match: ackOf(packet.RNRNAK), spoil: psn(-1)},
	"rnr-nak-msn":             {Text: "counts the message that it was not ready for", Rule: "RC-RSP-015", Responder: true, Needs: NotReady, match: ackOf(packet.RNRNAK), spoil: msn(-2)},
	"rnr-timer-short":         {Text: "asks for less than its minimum RNR timer", Rule: "RC-RSP-019", Responder: true, Needs: NotReady, match: ackOf(packet.RNRNAK), spoil: syndrome(0x21)},
	"rnr-nak-twice":           {Text: "follows an RNR NAK with a sequence NAK", Rule: "RC-RSP-043", Responder: true, Needs: NotReady},
	"fatal-nak-msn":           {Text: "counts the message that it refuses", Rule: "RC-RSP-015", Responder: true, Needs: Refused, match: ackOf(packet.NAK), spoil: msn(7)},
	"fatal-nak-psn":           {Text: "refuses the PSN before", Rule: "RC-RSP-017", Responder: true, Needs: Refused, match: ackOf(packet.NAK), spoil: psn(-1)},
	"answers-after-fatal":     {Text: "answers on after a NAK that ended the connection", Rule: "RC-RSP-027", Responder: true, Needs: Refused},
	"zero-length-checked":     {Text: "checks the R_Key of a WRITE of no bytes", Rule: "RC-RSP-026", Responder: true, Needs: ZeroLength},
	"duplicate-executed":      {Text: "executes a duplicate atomic again", Rule: "RC-RSP-031", Responder: true, Needs: Duplicate},
	"duplicate-ignored":       {Text: "does not answer a READ again while it waits for what it has NAKed", Rule: "RC-RSP-004", Responder: true, Needs: LostReadAndSend},
	"duplicate-beyond":        {Text: "acknowledges a duplicate with a PSN that is to come", Rule: "RC-RSP-006", Responder: true, Needs: Duplicate},
	"accepts-damaged":         {Text: "acknowledges a packet with a wrong ICRC", Rule: "RC-RSP-036", Responder: true, Needs: Damaged},
})

// manyCredits matches ACKs that give 32 credits or more.
func manyCredits(p *packet.Packet) bool { return isACK(p) && p.Syndrome >= 10 && p.Syndrome < 31 }

// ackedWrite matches ACKs; the workload of the test has the fault come at one of a WRITE.
func ackedWrite(p *packet.Packet) bool { return isACK(p) }
