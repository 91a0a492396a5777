package conform

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ibwitness/internal/testkit/programs"
	"ibwitness/mad"
)

// opensm runs a real subnet manager at a node of a fabric until the test ends, and returns where its log is.
func opensm(t *testing.T, name, node string, args ...string) (log string) {
	t.Helper()
	dir := t.TempDir()
	log = filepath.Join(dir, "opensm.log")
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, programs.Need(t, "opensm"), append([]string{"-f", log, "-e", "-d", "2"}, args...)...)
	c.Dir = dir
	c.Env = append(os.Environ(), "LD_PRELOAD="+programs.Need(t, "/usr/lib/*/umad2sim/libumad2sim.so"), "IBSIM_SOCKNAME="+name, "SIM_HOST="+node, "OSM_CACHE_DIR="+dir, "OSM_TMP_DIR="+dir)
	c.WaitDelay = time.Second
	if err := c.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = c.Wait()
	})
	return log
}

// serve offers a fabric to subnet managers for the time of a test.
func serve(t *testing.T) *Subnet {
	t.Helper()
	s, err := ServeSubnet(fmt.Sprintf("ibwitness-%d-%s", os.Getpid(), t.Name()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// managerKey is the SM_Key of the managers, and of trusted requests.
const managerKey = 0x0102_0304_0506_0708

// TestOpenSM: a real master subnet manager, beside a standby one, passes the tests of subnet administration.
func TestOpenSM(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits in real time for what must not come")
	}
	s := serve(t)
	options := filepath.Join(t.TempDir(), "opensm.conf")
	if err := os.WriteFile(options, fmt.Appendf(nil, "m_key 0x1234\nsm_key 0x%x\nsa_key 0x%[1]x\nsm_priority 9\n", managerKey), 0o600); err != nil {
		t.Fatal(err)
	}
	log := opensm(t, s.server.Name(), SubnetManager, "-F", options)
	if err := s.Await(context.Background()); err != nil {
		b, _ := os.ReadFile(log)
		t.Fatalf("%v\n%s", err, b)
	}
	second := opensm(t, s.server.Name(), SubnetSwitch, "-F", options, "-p", "0")
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		b, _ := os.ReadFile(second)
		if strings.Contains(string(b), "Entering STANDBY state") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the second opensm is not standby:\n%s", b)
		}
	}
	// The master learns of it by a later sweep.
	standby := Tests()[slices.IndexFunc(Tests(), func(t *Test) bool { return t.ID == "X15_006" }):][:1]
	for end := time.Now().Add(30 * time.Second); ExecuteAll(standby, s.Target(managerKey), Options{})[0].Outcome == NotApplicable; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the master does not know of the standby manager")
		}
	}
	for _, r := range ExecuteAll(Tests(), s.Target(managerKey), Options{}) {
		want := Pass
		if r.Test.Needs&Administration == 0 || r.Test == tables {
			want = NotApplicable
		}
		for _, l := range r.Log {
			if strings.Contains(l.Text, "-> frame") && strings.Contains(l.Text, "DeleteResp") {
				t.Errorf("%s: an answer of the manager counts as the tester's: %s", r.Test.ID, l.Text)
			}
		}
		if r.Outcome == want {
			continue
		}
		t.Errorf("%s: %v", r.Test.ID, r.Outcome)
		for _, j := range r.Judgements {
			t.Logf("%s %v: expected %s, actual %s, frames %v", j.ID, j.Outcome, j.Expected, j.Actual, j.Frames)
		}
		for _, l := range r.Log {
			t.Logf("%v, step %d: %s", time.Duration(l.Time), l.Step, l.Text)
		}
	}
}

// TestNoManager: where no subnet manager comes, that is said.
func TestNoManager(t *testing.T) {
	s := serve(t)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if err := s.Await(ctx); err == nil || !strings.Contains(err.Error(), "SIM_HOST=manager") {
		t.Error(err)
	}
	if r := Execute(records, s.Target(0), RunOptions{}); r.Outcome != Inconclusive || !strings.Contains(r.Judgements[0].Actual, "not Active") {
		t.Errorf("%v: %+v", r.Outcome, r.Judgements)
	}
	if r := Execute(Match("C09_130_01")[0], s.Target(0), RunOptions{}); r.Outcome != NotApplicable {
		t.Errorf("a test of adapters: %v", r.Outcome)
	}
}

// TestSegmented: a table that a program hands over whole is one segment on the link, with as many bytes as it has; what is whole already stays.
func TestSegmented(t *testing.T) {
	b := make([]byte, mad.Size)
	h := mad.Header{BaseVersion: 1, Class: mad.ClassSubnetAdmin, ClassVersion: 2, Method: mad.GetTableResp, Attribute: mad.AttrPathRecord}
	r := mad.RMPP{Flags: mad.RMPPActive}
	if h.Encode(b) != nil || r.Encode(b) != nil {
		t.Fatal("header")
	}
	segmented(b, mad.SAHeaderSize+64)
	want := mad.RMPP{Version: 1, Type: mad.RMPPData, Flags: mad.RMPPActive | mad.RMPPFirst | mad.RMPPLast, Data1: 1, Data2: 64 + 20}
	if err := r.Decode(b); err != nil || r != want {
		t.Errorf("%+v, %v", r, err)
	}
	was := bytes.Clone(b)
	if segmented(b, 0); !bytes.Equal(b, was) {
		t.Error("a segment is changed")
	}
}
