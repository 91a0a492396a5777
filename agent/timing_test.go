package agent

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"ibwitness/fabricagent"
	"ibwitness/wqe"
)

// requested counts the requests that a log of verbs events tells of, and their bytes, by operation.
func requested(t *testing.T, name string) (count, bytes [8]uint64) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	ops := map[string]wqe.Op{
		"SEND": wqe.Send, "SEND_WITH_IMM": wqe.Send, "RDMA_WRITE": wqe.Write, "RDMA_WRITE_WITH_IMM": wqe.Write, "RDMA_READ": wqe.Read,
		"ATOMIC_CMP_AND_SWP": wqe.CmpSwap, "ATOMIC_FETCH_AND_ADD": wqe.FetchAdd,
	}
	for s := bufio.NewScanner(text); s.Scan(); {
		var l struct {
			Ev, Opcode string
			Length     uint64
		}
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		if l.Ev == "post_send" {
			op := ops[l.Opcode]
			if count[op]++; !op.Atomic() {
				bytes[op] += l.Length
			}
		}
	}
	return count, bytes
}

// TestTimingPosted: the messages that were measured are those that the requester has posted, where packets were lost before and after the tap, came twice and out of order.
func TestTimingPosted(t *testing.T) {
	for _, name := range []string{"netem_reorder_rc_mixed_sidecar", "netem_loss2_rc_mixed_sidecar", "netem_dup3_rc_mixed_sidecar", "netem_corrupt2_rc_mixed_sidecar", "uc_mixed_sidecar"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", "posted", name)
			src, err := fabricagent.Open([]string{path + ".pcap.zst"})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			r, err := Run(context.Background(), src, Options{Workers: 1, Timing: true, Messages: 1000})
			if err != nil {
				t.Fatal(err)
			}
			count, bytes := requested(t, path+".client.jsonl.gz")
			var seen, size [8]uint64
			kept := 0
			for i := range r.Connections {
				k := r.Connections[i].Timing
				if k == nil {
					continue
				}
				kept += len(k.Messages)
				for e := range k.Ends {
					for op, o := range k.Ends[e].Ops {
						if o != nil {
							seen[op], size[op] = seen[op]+o.Count, size[op]+o.Bytes
						}
					}
				}
			}
			if seen != count || size != bytes {
				t.Errorf("%v messages of %v bytes, and %v of %v were posted", seen, size, count, bytes)
			}
			sum := 0
			for _, n := range count {
				sum += int(n)
			}
			if kept != sum || sum == 0 || r.MessagesDropped != 0 {
				t.Errorf("%d messages are kept of %d, %d dropped", kept, sum, r.MessagesDropped)
			}
		})
	}
}
