package ibsim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ibwitness/internal/testkit/programs"
	"ibwitness/mad"
	"ibwitness/subnet"
	"ibwitness/subnet/sma"
)

// library is Debian's library that brings programs to a server.
func library(t *testing.T) string { return programs.Need(t, "/usr/lib/*/umad2sim/libumad2sim.so") }

// command is a program on the fabric of a server, at a host.
func command(ctx context.Context, t *testing.T, name, host, program string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(ctx, programs.Need(t, program), args...)
	c.Dir = t.TempDir() // libumad2sim makes folders there
	c.Env = append(os.Environ(), "LD_PRELOAD="+library(t), "IBSIM_SOCKNAME="+name, "SIM_HOST="+host)
	c.WaitDelay = time.Second
	return c
}

// run returns the output of a program. libumad2sim leaves rubbish in bytes 224 to 255 of each MAD that it hands over: ibqueryerrors takes the DLID of a PathRecord from there as an
// index of a table, and about one time in thirty crashes by it. It is run again then; any other end is a failure.
func run(t *testing.T, name, host, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := command(ctx, t, name, host, program, args...).CombinedOutput()
	for tries := 1; program == "ibqueryerrors" && crashed(err) && tries < 4; tries++ {
		t.Log("ibqueryerrors has crashed")
		out, err = command(ctx, t, name, host, program, args...).CombinedOutput()
	}
	if err != nil {
		t.Errorf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// crashed reports whether a program ended by a segmentation fault.
func crashed(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGSEGV
}

// unique is a name of sockets for a test.
func unique(t *testing.T) string {
	return fmt.Sprintf("ibwitness-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))
}

const (
	leaves   = 16
	spines   = 4
	perLeaf  = 2
	lastHost = leaves*perLeaf - 1
)

// tree is a fabric of 20 switches in two levels, 31 hosts and a router. Some switches have an enhanced port 0, some no SLtoVLMappingTable, some one data lane; hosts
// have as many lanes as their switch, or, differ, more.
func tree(t *testing.T, differ bool) *Fabric {
	t.Helper()
	f := new(Fabric)
	add := func(c sma.Config) *sma.Node {
		n, err := sma.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Add(n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	link := func(a *sma.Node, p int, b *sma.Node, q int) {
		if err := f.Link(0, End{a, uint8(p)}, End{b, uint8(q)}); err != nil {
			t.Fatal(err)
		}
	}
	var top []*sma.Node
	for i := range spines {
		c := sma.SwitchConfig(0x100000+uint64(i), fmt.Sprintf("spine%d", i), leaves)
		c.EnhancedPort0 = i == 1
		c.MulticastCap = 0x200
		top = append(top, add(c))
	}
	for i := range leaves {
		c := sma.SwitchConfig(0x200000+uint64(i), fmt.Sprintf("leaf%d", i), spines+perLeaf)
		c.EnhancedPort0, c.NoSLtoVL = i%4 == 0, i%4 == 1
		if i%4 == 2 {
			c.NoSLtoVL, c.VLCap, c.Enforcement = true, 1, 0
		}
		leaf := add(c)
		for k := range perLeaf {
			h := i*perLeaf + k
			c := sma.Config{Type: subnet.ChannelAdapter, GUID: 0x300000 + uint64(h)*16, Description: fmt.Sprintf("host%d", h), Ports: 1 + uint8(h%2)}
			if !differ {
				c.VLCap = leaf.Config().VLCap
			}
			if h == lastHost {
				c.Type, c.Description = subnet.Router, "router"
			}
			link(add(c), int(c.Ports), leaf, spines+1+k)
		}
		for k, s := range top {
			link(leaf, k+1, s, i+1)
		}
	}
	return f
}

// managed starts an opensm at host0 and waits until its log says SUBNET UP as often as that.
func managed(t *testing.T, name string, ups int, args ...string) (log string) {
	t.Helper()
	log, _ = manager(t, name, "host0", args...)
	await(t, log, "SUBNET UP", ups)
	return log
}

// manager starts an opensm at a host; stop ends it.
func manager(t *testing.T, name, host string, args ...string) (log string, stop func()) {
	t.Helper()
	dir := t.TempDir()
	log = filepath.Join(dir, "opensm.log")
	ctx, cancel := context.WithCancel(context.Background())
	c := command(ctx, t, name, host, "opensm", append([]string{"-f", log, "-e", "-s", "1", "-d", "2"}, args...)...)
	c.Env = append(c.Env, "OSM_CACHE_DIR="+dir, "OSM_TMP_DIR="+dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		cancel()
		_ = c.Wait()
	})
	t.Cleanup(stop)
	return log, stop
}

// await waits until a log has a text so many times.
func await(t *testing.T, log, text string, times int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		b, _ := os.ReadFile(log)
		if strings.Count(string(b), text) >= times {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("opensm did not write %q %d times:\n%s", text, times, b)
		}
	}
}

// TestOpenSM: a real subnet manager brings a fabric of 20 switches up, and infiniband-diags find all of it.
func TestOpenSM(t *testing.T) {
	f := tree(t, false)
	s := listens(t, f)
	log := managed(t, s.Name(), 1, "-Q")
	if b, err := os.ReadFile(log); err != nil || strings.Contains(string(b), "ERR ") {
		t.Errorf("opensm complains: %v\n%s", err, b)
	}
	s.Do(func(_ int64, f *Fabric) { whole(t, f) })
	out := run(t, s.Name(), "host5", "ibnetdiscover")
	for _, n := range s.fabric.nodes {
		if c := n.Config(); strings.Count(out, fmt.Sprintf("%x\"", c.GUID)) == 0 || !strings.Contains(out, c.Description) {
			t.Errorf("ibnetdiscover does not list %s:\n%s", c.Description, out)
		}
	}
	var lid, remote uint16
	s.Do(func(_ int64, f *Fabric) {
		lid, _ = f.Node("leaf0").LID(0)
		remote, _ = f.Node("host9").LID(2)
	})
	for _, c := range []struct{ want, command string }{
		{"NodeType:........................Switch", fmt.Sprint("smpquery nodeinfo ", lid)},
		{"LinkState:.......................Active", fmt.Sprint("smpquery portinfo ", remote)},
		{"IsSLMappingSupported", fmt.Sprint("smpquery portinfo ", lid)},
		{"SL:", fmt.Sprint("smpquery sl2vl ", lid)},
		{"PortXmitPkts:", fmt.Sprint("perfquery ", lid, " 5")},
		{"PortUnicastXmitPkts:", fmt.Sprint("perfquery -x ", remote, " 2")},
		{"SMINFO_MASTER", "sminfo"},
		{"8 guids capacity", fmt.Sprint("smpquery guidinfo ", remote)},
		{"leaf0", "ibtracert 1 " + fmt.Sprint(remote)},
		{"Summary: 52 nodes checked, 0 bad nodes found", "ibqueryerrors"},
		{"NodeDescription", "saquery"},
	} {
		f := strings.Fields(c.command)
		if out := run(t, s.Name(), "host0", f[0], f[1:]...); !strings.Contains(out, c.want) {
			t.Errorf("%s does not say %q:\n%s", c.command, c.want, out)
		}
	}
}

// TestOpenSMKeys: opensm sets M_Keys with protect bits 2: who does not know the key gets no answer, and the port counts it (rules SMP-MK-002 to -004).
func TestOpenSMKeys(t *testing.T) {
	f, j := tree(t, false), newJudge()
	f.Observe = j.pass
	s := listens(t, f)
	options := filepath.Join(t.TempDir(), "opensm.conf")
	if err := os.WriteFile(options, []byte("m_key 0x1234\nm_key_protection_level 2\nm_key_lease_period 60\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	managed(t, s.Name(), 1, "-F", options)
	s.Do(func(_ int64, f *Fabric) { whole(t, f) })
	c, err := Connect(s.Name(), "host5")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	q := getting(mad.AttrPortInfo, 0)
	if _, err := asks(t, c, q, 2); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("without the key: %v", err)
	}
	q.MKey = 0x1234
	field := func(b []byte, name string) uint64 { return mad.LayoutPortInfo.Field(name).Uint(b) }
	a, err := asks(t, c, q, 2)
	if err != nil || field(a.Data, "MKey") != 0x1234 || field(a.Data, "MKeyProtectBits") != 2 || field(a.Data, "MKeyLeasePeriod") != 60 || field(a.Data, "MKeyViolations") != 1 {
		t.Errorf("with the key: % x, %v", a.Data, err)
	}
	s.Do(func(int64, *Fabric) { j.innocent(t) })
}

// TestOpenSMTwice: a second opensm finds the first by its SMInfo and is standby, until the first does not answer.
func TestOpenSMTwice(t *testing.T) {
	f, j := tree(t, false), newJudge()
	f.Observe = j.pass
	s := listens(t, f)
	log, stop := manager(t, s.Name(), "host0", "-p", "9")
	await(t, log, "SUBNET UP", 1)
	options := filepath.Join(t.TempDir(), "opensm.conf")
	if err := os.WriteFile(options, []byte("sminfo_polling_timeout 200\npolling_retry_number 2\nsm_priority 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	second, _ := manager(t, s.Name(), "host5", "-F", options)
	await(t, second, "Entering STANDBY state", 1)
	stop()
	await(t, second, "Entering MASTER state", 1)
	await(t, second, "SUBNET UP", 1)
	s.Do(func(_ int64, f *Fabric) {
		whole(t, f)
		j.innocent(t)
	})
}

// TestOpenSMRetrains: where lanes of a link's ends differ, opensm changes OperationalVLs and takes the link down; PortStateChange and trap 128 tell it that the link is
// back. The same where a cable is pulled and plugged in.
func TestOpenSMRetrains(t *testing.T) {
	f, j := tree(t, true), newJudge()
	f.Observe = j.pass
	s := listens(t, f)
	log := managed(t, s.Name(), 1)
	s.Do(func(_ int64, f *Fabric) { whole(t, f) })
	host := End{s.fabric.Node("host7"), 2}
	var peer End
	s.Do(func(now int64, f *Fabric) {
		peer, _ = f.Peer(host)
		if err := f.Unlink(now, host); err != nil || !peer.Node.PortStateChange() {
			t.Errorf("unlink: %v, PortStateChange %v", err, peer.Node.PortStateChange())
		}
	})
	await(t, log, "num:128", 1)
	until(t, s, "PortStateChange is cleared", func(*Fabric) bool { return !peer.Node.PortStateChange() })
	s.Do(func(now int64, f *Fabric) {
		if err := f.Link(now, host, peer); err != nil {
			t.Error(err)
		}
	})
	until(t, s, "the link is Active", func(*Fabric) bool {
		return host.Node.State(host.Port) == sma.Active && peer.Node.State(peer.Port) == sma.Active
	})
	s.Do(func(_ int64, f *Fabric) {
		whole(t, f)
		j.innocent(t)
	})
}

// until waits until something is true of a fabric.
func until(t *testing.T, s *Server, what string, is func(*Fabric) bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		done := false
		s.Do(func(_ int64, f *Fabric) { done = is(f) })
		if done {
			return
		}
	}
	t.Fatalf("not until the end of waiting: %s", what)
}

// whole checks that every port with a cable is Active, that LIDs are unique, and that packets from every node reach every LID by the forwarding tables.
func whole(t *testing.T, f *Fabric) {
	t.Helper()
	ends := map[uint16]End{}
	for e := range f.cables {
		if st := e.Node.State(e.Port); st != sma.Active {
			t.Errorf("%v is in state %d", e, st)
		}
	}
	for _, n := range f.nodes {
		e := f.attached(n)
		lid, _ := n.LID(e.Port)
		if o, taken := ends[lid]; taken || lid == 0 {
			t.Errorf("%v has LID %d, and so has %v", e, lid, o)
		}
		ends[lid] = e
	}
	for _, from := range ends {
		for lid, to := range ends {
			d := Datagram{DLID: lid}
			d.MAD[1] = 4 // goes over ports that are Active
			if at, ok := f.Carry(0, from, &d); !ok || at.Node != to.Node {
				t.Errorf("from %v to LID %d of %v: %v", from, lid, to, at)
			}
		}
	}
}
