package report

import (
	"bytes"
	"strings"
	"testing"

	"ibwitness/agent"
	"ibwitness/packet"
)

// TestSharedPaths: queue pairs that send by the same addresses and UDP source port are told together.
func TestSharedPaths(t *testing.T) {
	r := &agent.Result{RDMA: 100, Packets: 100, First: 1, Last: 1e9}
	for i, port := range []uint16{50000, 50001, 50000, 50002, 50000} {
		c := agent.Connection{Service: packet.RC, Encap: packet.RoCEv2IPv4, First: 1}
		for k := range c.Ends {
			e := &c.Ends[k]
			e.Addr, e.QPN, e.QPNKnown = packet.IPv4Addr([]byte{10, 0, 0, byte(k + 1)}), uint32(16*(k+1)+i), true
			e.Path = agent.Path{Known: true, Port: port + uint16(1000*k*(i+1))}
		}
		r.Connections = append(r.Connections, c)
	}
	var out bytes.Buffer
	if err := (&text{Options: Options{All: true}}).Report(&out, &Run{Result: r}); err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(out.String(), "take the same path:\n")
	section, _, _ = strings.Cut(section, "\n\n")
	if want := "  10.0.0.1 → 10.0.0.2 port 50000: 3, QP 0x10, QP 0x12, QP 0x14"; strings.TrimRight(section, "\n") != want {
		t.Errorf("%s\nnot\n%s", section, want)
	}
	out.Reset()
	if err := (&jsonLines{}).Report(&out, &Run{Result: r}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), `"udp_source_port":50000,"p_key":"0x0000","shared":3}`); n != 3 || strings.Count(out.String(), `"shared"`) != 3 {
		t.Errorf("%d ends share a path:\n%s", n, out.String())
	}
}
