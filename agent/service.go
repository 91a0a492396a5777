package agent

import (
	"ibwitness/agent/internal/connection"
	"ibwitness/packet"
	"ibwitness/verifier"
)

// service is what the transport agent asks of a service agent.
type service interface {
	// packet verifies a packet that end from sent.
	packet(c *connection.Connection, from int, p *packet.Packet)
	// finish judges what is open when the capture ends, at time end.
	finish(c *connection.Connection, end int64)
}

// rcAgent is the service agent of RC.
type rcAgent struct{ *verifier.Verifier }

func (a rcAgent) packet(c *connection.Connection, from int, p *packet.Packet) { a.RC(&c.Pair, from, p) }

func (a rcAgent) finish(c *connection.Connection, end int64) { a.FinishRC(&c.Pair, end) }

// ucAgent is the service agent of UC.
type ucAgent struct{ *verifier.Verifier }

func (a ucAgent) packet(c *connection.Connection, from int, p *packet.Packet) { a.UC(&c.Pair, from, p) }

func (a ucAgent) finish(c *connection.Connection, _ int64) { a.FinishUC(&c.Pair) }

// xrcAgent is the service agent of XRC.
type xrcAgent struct{ *verifier.Verifier }

func (a xrcAgent) packet(c *connection.Connection, from int, p *packet.Packet) {
	a.XRC(&c.Pair, from, p)
}
func (a xrcAgent) finish(c *connection.Connection, end int64) { a.FinishRC(&c.Pair, end) }

// udAgent is the service agent of UD.
type udAgent struct{ *Transport }

func (a udAgent) packet(c *connection.Connection, from int, p *packet.Packet) {
	if a.table.FreshQPs() {
		a.table.Begins(&c.Ends[from])
	}
	a.ver.UD(&c.Pair, from, p)
}

func (a udAgent) finish(c *connection.Connection, _ int64) { a.ver.FinishUD(&c.Pair) }
