package eventlog

import (
	"strings"
	"testing"
)

// TestData: the data of a send request is read as far as it is told, tells its checksum where it is all, and is refused where it cannot be that of the message.
func TestData(t *testing.T) {
	const post = `{"ev":"post_send","t":1,"qpn":7,"wr_id":1,"opcode":"SEND","length":4,"data":"`
	for _, x := range []struct {
		data   string
		bytes  int
		summed bool
		wrong  string
	}{
		{data: "01020304", bytes: 4, summed: true},
		{data: "0102", bytes: 2},
		{data: "", bytes: 0},
		{data: "010", wrong: "hexadecimal"},
		{data: "0102030405", wrong: "5 bytes"},
	} {
		log, err := Read("log", strings.NewReader(post+x.data+"\"}\n{\"ev\":\"end\"}\n"))
		if x.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), x.wrong) {
				t.Errorf("%q: %v", x.data, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", x.data, err)
			continue
		}
		if e := &log.Events[0]; len(e.Data) != x.bytes || e.Summed != x.summed || x.summed && e.Sum != 0xB63CFBCD {
			t.Errorf("%q: %x, checksum %#x, %v", x.data, e.Data, e.Sum, e.Summed)
		}
	}
}
