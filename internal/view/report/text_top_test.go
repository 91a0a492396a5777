package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/packet"
	pair "ibwitness/qp"
)

// TestTop: of many connections the text names those that sent the most, and those that lost the most time; of few it does not.
func TestTop(t *testing.T) {
	r := &agent.Result{RDMA: 100, Packets: 100, First: 1, Last: int64(10 * time.Second)}
	for i := range 7 {
		c := agent.Connection{Service: packet.RC, First: 1}
		for k := range c.Ends {
			c.Ends[k].Addr = packet.IPv4Addr([]byte{10, 0, 0, byte(2*i + k)})
		}
		c.Ends[0].Bytes, c.Ends[0].Packets, c.Ends[0].Last = uint64(i)<<20, 1, int64(10*time.Second)
		if i == 2 {
			c.Ends[1].Trouble = &pair.Trouble{Sum: pair.Stalls{Count: 1, Lost: int64(4 * time.Second)}}
		}
		r.Connections = append(r.Connections, c)
	}
	show := func() string {
		var out bytes.Buffer
		if err := (&text{}).Report(&out, &Run{Result: r}); err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(out.String(), "Most traffic, most trouble\n")
		section, _, _ := strings.Cut(after, "\n\n")
		return section
	}
	lines := strings.Split(show(), "\n")
	if len(lines) != 5 || !strings.Contains(lines[1], "10.0.0.12") || !strings.Contains(lines[1], "29 %") || !strings.Contains(lines[4], "lost most time") ||
		!strings.Contains(lines[4], "10.0.0.5") || !strings.Contains(lines[4], "40 %") {
		t.Errorf("%s", strings.Join(lines, "\n"))
	}
	if r.Connections = r.Connections[:5]; show() != "" {
		t.Error(show())
	}
}
