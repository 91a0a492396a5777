package conform

import (
	"context"
	"flag"
	"sync"
	"testing"
	"time"

	"ibwitness/cq"
	"ibwitness/fabricagent/live"
	"ibwitness/hcaagent/remote"
	"ibwitness/hcaagent/soft"
	"ibwitness/internal/testkit/veth"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

var liveTests = flag.String("live.tests", "C09_142_01", "tests of TestLive: a pattern")
var liveFault = flag.String("live.fault", "", "fault of the device of TestLive")

// wallClock is the clock of an adapter in software in real time.
type wallClock struct{ mu *sync.Mutex }

func (c wallClock) Now() int64 { return time.Now().UnixNano() }

func (c wallClock) After(d int64, f func()) {
	time.AfterFunc(time.Duration(d), func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		f()
	})
}

type locked struct {
	mu sync.Mutex
	*soft.HCA
	source *live.Source
	sender *live.Sender
}

func (d *locked) Close() error      { d.source.Stop(); return d.sender.Close() }
func (d *locked) Limits() qp.Limits { return d.HCA.Limits() }
func (d *locked) Poll(ctx context.Context, q wqe.CQ, into []cq.Completion) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.HCA.Poll(ctx, q, into)
}
func (d *locked) PostSend(ctx context.Context, q wqe.QP, w *wqe.SendRequest) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.HCA.PostSend(ctx, q, w)
}
func (d *locked) PostReceive(ctx context.Context, q wqe.QP, w *wqe.ReceiveRequest) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.HCA.PostReceive(ctx, q, w)
}
func (d *locked) TransitionQP(ctx context.Context, q wqe.QP, to qp.State, a qp.Attr) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.HCA.TransitionQP(ctx, q, to, a)
}
func (d *locked) QueryQP(ctx context.Context, q wqe.QP) (qp.Attr, qp.State, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.HCA.QueryQP(ctx, q)
}
func (d *locked) MemoryData(ctx context.Context, m wqe.Memory, into []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.HCA.MemoryData(ctx, m, into)
}

func TestLive(t *testing.T) {
	if !veth.Network(t) {
		return
	}
	veth.IP(t, "link set right up")
	wire, err := live.OpenPort(live.SendOptions{Interface: "left", To: []packet.Addr{deviceAddr}, Rate: 100000})
	if err != nil {
		t.Fatal(err)
	}
	defer wire.Close()
	l := &Live{MTU: 1024, Wire: wire, Tester: End{MAC: testerMAC, IPv4: testerAddr}, Device: End{MAC: deviceMAC, IPv4: deviceAddr}, Stranger: strangerAddr, Window: 50 * time.Millisecond, Jitter: 20 * time.Millisecond}
	l.Open = func(ctx context.Context, told func(*cq.Event)) (Consumer, error) {
		d := &locked{}
		var err error
		if d.sender, err = live.OpenSender(live.SendOptions{Interface: "right", To: []packet.Addr{testerAddr}, Rate: 100000}); err != nil {
			return nil, err
		}
		if d.source, err = live.Open(live.Options{Interfaces: []string{"right"}, Promiscuous: true, Hold: time.Millisecond, Idle: 10 * time.Millisecond}); err != nil {
			return nil, err
		}
		d.HCA, err = soft.New(soft.Options{
			Addr: deviceAddr, GIDs: gids, MAC: deviceMAC, Clock: wallClock{&d.mu}, Seed: 1, Limits: soft.Limits{MTU: 1024}, Event: func(e *cq.Event) { told(e) },
			Send: func(frame []byte) { d.sender.Send(frame) }, Fault: *liveFault, FaultAll: true,
		})
		if err != nil {
			return nil, err
		}
		go func() {
			for {
				b, err := d.source.Next()
				if err != nil {
					d.source.Close()
					return
				}
				for i := range b.Frames {
					if f := &b.Frames[i]; f.Way != packet.WayOut {
						d.mu.Lock()
						d.HCA.Receive(f.Data)
						d.mu.Unlock()
					}
				}
				b.Release()
			}
		}()
		return d, nil
	}
	target := &Target{Name: "soft, in real time", Live: l, Has: Control | Memory | Reads | Extended}
	for _, x := range Match(*liveTests) {
		if x.Device != Adapter || x.cabled || x.native {
			continue
		}
		began := time.Now()
		r := Execute(x, target, RunOptions{})
		t.Logf("%s %v in %v (%d frames)", x.ID, r.Outcome, time.Since(began).Round(time.Millisecond), len(r.Frames))
		for _, j := range r.Judgements {
			if j.Outcome != Pass {
				t.Logf("   %s %v: expected %s, actual %s; frames %v", j.ID, j.Outcome, j.Expected, j.Actual, j.Frames)
			}
		}
		for _, f := range r.Violations {
			t.Logf("   %v", f)
		}
		for _, f := range r.Warnings {
			t.Logf("   warning %v", f.Rule)
		}
		if testing.Verbose() && len(Match(*liveTests)) == 1 {
			for _, line := range r.Log {
				t.Logf("%10d %d %s", line.Time/1000, line.Step, line.Text)
			}
		}
	}
}

func (d *locked) Await(_ context.Context, queues []wqe.CQ, most int, _ time.Duration) (list []remote.Ready, err error) {
	for _, q := range queues {
		list = append(list, remote.Ready{CQ: q, Completions: 8})
	}
	return list, nil
}
