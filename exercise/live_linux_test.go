package exercise_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"ibwitness/agent"
	"ibwitness/exercise"
	"ibwitness/fabricagent"
	"ibwitness/fabricagent/live"
	"ibwitness/internal/testkit/veth"
	"ibwitness/packet"
)

const wire = `
ethernet:
  exerciser: {address: 10.0.0.1, mac: "02:00:0a:00:00:01"}
  partner: {address: 10.0.0.2, mac: "02:00:0a:00:00:02"}
`

// asks sends a packet, and goes on when it is answered.
const asks = `until: 5s
streams:
  - to: 10.0.0.2
    steps:
      - {op: rc_send_only, length: 64, set: {dest_qp: 0x20, psn: 0, ack_req: 1}}
      - {wait: {op: rc_acknowledge, psn: 0}, timeout: 4s}
      - {op: rc_send_only, length: 64, count: 3, gap: 1ms, set: {dest_qp: 0x20, psn: {from: 1, step: 1}}}
`

var named = []packet.Addr{packet.IPv4Addr([]byte{10, 0, 0, 2})}

func script(t *testing.T, text string) *exercise.Script {
	t.Helper()
	s, err := exercise.Read("x.yaml", []byte(wire+text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// answer answers the first packet that comes to the right interface, until the function that it returns is called.
func answer(t *testing.T, source *live.Source) (end func()) {
	send := veth.Sender(t, "right")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			b, err := source.Next()
			if err != nil {
				return
			}
			for i := range b.Frames {
				var p packet.Packet
				if fabricagent.Decode(&b.Frames[i], &p) != fabricagent.RDMA || p.PSN != 0 || p.Src != packet.IPv4Addr([]byte{10, 0, 0, 1}) {
					continue
				}
				ack := packet.Packet{Encap: packet.RoCEv2IPv4, Opcode: packet.Op(packet.RC, packet.Acknowledge), Src: p.Dst, Dst: p.Src, DestQP: 0x10, PKey: 0xFFFF, Syndrome: 0x1F, MSN: 1, MigReq: true, SrcPort: 0xC000}
				send(ack.CompleteEthernet(nil, [6]byte{2, 0, 10, 0, 0, 2}, [6]byte{2, 0, 10, 0, 0, 1}))
			}
			b.Release()
		}
	}()
	return func() {
		source.Stop()
		<-ended
		_ = source.Close()
	}
}

// TestLive: a script on an interface sends to the address that was named, waits for what the device answers, is judged, and leaves nothing when it has ended.
func TestLive(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	device, err := live.Open(live.Options{Interfaces: []string{"right"}, Promiscuous: true})
	if err != nil {
		t.Fatal(err)
	}
	defer answer(t, device)()
	before := runtime.NumGoroutine()
	s := script(t, asks)
	r, err := s.Live(exercise.LiveOptions{Interface: "left", To: named})
	if err != nil {
		t.Fatal(err)
	}
	result, err := agent.Run(context.Background(), r, agent.Options{Workers: 1, Near: r.Near()})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	x := r.Result()
	if q := x.Streams[0]; q.Sent != 4 || q.Fired != 1 || q.Outcome != "ended" || x.Packets != 1 || x.Kept != 5 {
		t.Errorf("%+v", x)
	}
	if v := s.Verdict(result.Findings); !v.AsSaid() {
		t.Errorf("%+v", result.Findings)
	}
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

// TestLiveMistakes: what cannot run on an interface is told before anything is sent.
func TestLiveMistakes(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	for text, want := range map[string]string{
		"streams: [{to: 10.0.0.3, steps: [{op: rc_send_only}]}]":                                      "line 5: a packet goes to 10.0.0.3, which was not named: give --to 10.0.0.3",
		"streams: [{of: partner, to: 10.0.0.1, steps: [{op: rc_send_only}]}]":                         "line 5: stream \"stream 1\" is one of the partner",
		"streams: [{to: 10.0.0.2, steps: [{op: rc_send_only, to: 10.0.0.2}, {op: 4, to: 10.1.1.1}]}]": "a packet goes to 10.1.1.1",
	} {
		if _, err := script(t, text).Live(exercise.LiveOptions{Interface: "left", To: named}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %q", text, err, want)
		}
	}
	if _, err := script(t, asks).Live(exercise.LiveOptions{Interface: "nowhere", To: named}); err == nil || !strings.Contains(err.Error(), "ip link") {
		t.Errorf("%v", err)
	}
	native, err := exercise.ReadFile("../examples/exercise/raw.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := native.Live(exercise.LiveOptions{Interface: "left", To: named}); err == nil || !strings.Contains(err.Error(), "give it the key ethernet") {
		t.Errorf("%v", err)
	}
	bytes := script(t, "streams: [{steps: [{bytes: \"02 00 0a 00 00 03 02 00 0a 00 00 01 08 00 45 00 00 1c 00 00 00 00 40 11 00 00 0a 00 00 01 0a 00 00 03 00 00 12 b7 00 08 00 00\"}]}]")
	r, err := bytes.Live(exercise.LiveOptions{Interface: "left", To: named})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	target := (*live.TargetError)(nil)
	if _, err := agent.Run(context.Background(), r, agent.Options{Workers: 1}); !errors.As(err, &target) {
		t.Errorf("bytes to another address: %v", err)
	}
}

// TestLiveGone: an interface that disappears ends the run with an error that says so, and what was sent stays judged.
func TestLiveGone(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	s := script(t, "streams:\n  - {to: 10.0.0.2, gap: 1ms, repeat: forever, steps: [{op: ud_send_only, length: 64, set: {dest_qp: 0x20, src_qp: 0x10, qkey: 1, psn: {step: 1}}}]}\n")
	r, err := s.Live(exercise.LiveOptions{Interface: "left", To: named})
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(200*time.Millisecond, func() { veth.IP(t, "link delete left") })
	gone := (*live.GoneError)(nil)
	result, err := agent.Run(context.Background(), r, agent.Options{Workers: 1, Near: r.Near()})
	if !errors.As(err, &gone) || gone.Interface != "left" {
		t.Errorf("%v", err)
	}
	if result.RDMA == 0 {
		t.Error("nothing was judged")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if sent := r.Result().Streams[0].Sent; sent < 10 {
		t.Errorf("%d packets", sent)
	}
}
