package planted

import (
	"bytes"
	"context"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/view/report"
	"ibwitness/packet"
)

// result runs the engine over a capture.
func result(t *testing.T, c *Capture) *agent.Result {
	t.Helper()
	src, err := fabricagent.OpenReader("planted.pcap", bytes.NewReader(c.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := agent.Run(context.Background(), src, agent.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestVerdict: a capture is CLEAN only where its packets were judged and nothing waits for an answer.
func TestVerdict(t *testing.T) {
	isRequest := func(p *packet.Packet) bool { return p.Info().Request }
	manufacturer := Each(all, func(p *packet.Packet) { p.Opcode |= 0xC0; p.Fit() })
	for _, x := range []struct {
		name, base string
		plant      Plant
		want       report.Verdict
	}{
		{"as it is", "rc", func(*Capture, int) {}, report.Clean},
		{"as it is, UC", "uc", func(*Capture, int) {}, report.Clean},
		{"as it is, UD", "ud", func(*Capture, int) {}, report.Clean},
		{"as it is, CM", "cm", func(*Capture, int) {}, report.Clean},
		{"manufacturer opcodes", "rc", manufacturer, report.NotJudged},
		{"manufacturer opcodes beside one SEND", "rc", All(manufacturer, func(c *Capture, _ int) {
			p := c.Frame(98).Packet
			p.Opcode = uc(packet.SendOnly)
			p.Fit()
			seal(p)
		}), report.Clean},
		{"all cut within the headers", "uc", All(Each(all, func(p *packet.Packet) { p.Opcode = uc(packet.WriteOnly); p.Fit() }), snap(54)), report.NotJudged},
		{"ends before an ACK", "rc", func(c *Capture, _ int) { c.Frames = c.Frames[:c.index(151)+1] }, report.Open},
		{"ends before a READ response", "rc", func(c *Capture, _ int) { c.Frames = c.Frames[:c.index(127)+1] }, report.Open},
		{"nobody answers", "rc", func(c *Capture, _ int) {
			var out []*Frame
			for _, f := range c.Frames {
				if f.Packet != nil && isRequest(f.Packet) {
					out = append(out, f)
				}
			}
			c.Frames = out
		}, report.Open},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := bases[x.base].load(t)
			x.plant(c, 1)
			run := report.Run{Result: result(t, c)}
			if v := run.Verdict(); v != x.want {
				t.Errorf("%v, want %v: %+v, %d of %d packets not judged", v, x.want, run.Result.Open, run.Result.Unjudged, run.Result.RDMA)
			}
		})
	}
}
