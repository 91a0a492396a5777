package incident

import (
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/timing"
	"ibwitness/wqe"
)

// TestTooLong: of a refused SEND that is longer than the receives that its responder announced, the requester is the cause, and it is told how long others were, that it repeats the command on other connections,
// and on how many of these packets came after the NAK; not where it is no longer than that, none was announced, or it may have invalidated an R_Key.
func TestTooLong(t *testing.T) {
	const (
		longer   = "The SEND is longer than the receives of 1,024 bytes that 10.0.0.2 announced."
		heeds    = "on 10.0.0.1 that does not heed the size of receives"
		own      = "10.0.0.1 announced 4,096 bytes for its own"
		accepted = "SENDs of up to 716 bytes before it"
		repeats  = "10.0.0.1 repeats this command on each new connection that is refused so: on 2 more"
		after    = ", but packets came after the NAK on 2 of them"
		other    = "an operation that the responder does not support"
	)
	for _, k := range []struct {
		name     string
		change   func(k *qp.Refusal, c *agent.Connection)
		has, not []string
	}{
		{"longer", func(*qp.Refusal, *agent.Connection) {}, []string{longer, heeds, own, accepted, repeats, after}, []string{other, "receives that 10.0.0.2 posts"}},
		{"short enough", func(k *qp.Refusal, _ *agent.Connection) { k.Request.Length = 1024 }, []string{"longer than the receive that was posted", accepted, "receives that 10.0.0.2 posts"}, []string{longer, heeds, other}},
		{"not announced", func(_ *qp.Refusal, c *agent.Connection) { c.Ends[1].Settings.Receives = 0 }, []string{"longer than the receive that was posted"}, []string{longer, heeds, other}},
		{"may invalidate", func(k *qp.Refusal, _ *agent.Connection) { k.Plain = false }, []string{other}, []string{longer, heeds}},
		{"another command", func(_ *qp.Refusal, c *agent.Connection) { c.Upper.Oldest.ID = 8 }, []string{longer}, []string{"repeats"}},
		{"an older command", func(_ *qp.Refusal, c *agent.Connection) { c.Upper.Oldest.Frame = 3 }, []string{longer}, []string{"repeats"}},
	} {
		r := &agent.Result{First: 1, Last: 1e9}
		for n := range 3 {
			c := agent.Connection{Service: packet.RC, Upper: &agent.Upper{Oldest: &agent.Operation{Name: "NFS WRITE, XID 0x7", ID: 7, Frame: 11}}, Timing: &timing.Connection{}}
			for e := range c.Ends {
				c.Ends[e] = agent.End{Addr: packet.IPv4Addr([]byte{10, 0, 0, byte(1 + e)}), QPN: uint32(16 + n), QPNKnown: true, Last: 100}
				c.Ends[e].Settings.Receives = uint16(4 - 3*e)
			}
			c.Ends[0].Trouble = &qp.Trouble{Refusal: qp.Refusal{Code: packet.NAKInvalidRequest, Time: 100, Plain: true, Request: qp.StalledRequest{Op: wqe.Send, Length: 1888, Frame: 11}}}
			if n > 0 {
				c.Ends[1].Last = 200
			}
			c.Timing.Ends[0].Ops[wqe.Send] = &timing.Operation{Answered: 716}
			r.Connections = append(r.Connections, c)
		}
		c := &r.Connections[0]
		x := &c.Ends[0].Trouble.Refusal
		k.change(x, c)
		tell := &teller{run: r}
		i := tell.between(Refused, c, 0)
		i.fact("then", noneAfterNAK)
		tell.invalid(i, x)
		tell.tooLong(i, c, 0, x)
		said := i.What + strings.Join(i.FitsWith, "; ") + strings.Join(i.Next, "; ") + tell.goesOnAfterNAK(i)
		for _, f := range i.Facts {
			said += "; " + f.Text
		}
		for _, s := range k.has {
			if !strings.Contains(said, s) {
				t.Errorf("%s: no %q in %s", k.name, s, said)
			}
		}
		for _, s := range k.not {
			if strings.Contains(said, s) {
				t.Errorf("%s: %q in %s", k.name, s, said)
			}
		}
	}
}

// TestBesideInEpisodes: a receiver that was not ready for others in several episodes refused them at other times, too, and not only meanwhile.
func TestBesideInEpisodes(t *testing.T) {
	a := func(n byte) Party { return Party{Addr: packet.IPv4Addr([]byte{10, 0, 0, n})} }
	for _, k := range []struct{ episodes, want string }{
		{"2, with a break between", "It refused requests of 10.0.0.3 61 times in all, meanwhile and at other times"},
		{"", "Meanwhile it refused requests of 10.0.0.3 61 times, in 8s"},
	} {
		i := &Incident{Kind: Exhausted, What: "it gave up.", Local: a(1), Peer: a(2), Connections: 1}
		o := &Incident{Kind: NotReady, Local: a(3), Peer: a(2), Connections: 1, End: 8e9, short: shortage{pairs: 1, naks: 61, episodes: k.episodes}}
		(&teller{run: &agent.Result{First: 1, Last: 1e10}}).tellBeside(i, []*Incident{o})
		if !strings.Contains(i.What, k.want) || i.says("episodes") != (k.episodes != "") {
			t.Errorf("%s, %+v", i.What, i.Facts)
		}
	}
}
