package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"ibwitness/conform"
	"ibwitness/cq"
	"ibwitness/fabricagent/live"
	"ibwitness/hcaagent/remote"
	"ibwitness/packet"
)

// conformDUT is where a real device under test is, and how the tester reaches it.
type conformDUT struct {
	DUT       string        `name:"dut" placeholder:"HOST:PORT" help:"Test a real adapter, which ibwitness dut serves there, in place of devices in software; or with ibsim:NAME a real subnet manager, to which a fabric is offered under this name."`
	Secret    string        `placeholder:"FILE" complete:"file" help:"With --dut, the secret of both machines (ibwitness dut --new-secret FILE)."`
	Interface string        `short:"i" placeholder:"NAME" help:"With --dut, the network interface by which the adapter is reached, which needs the capability CAP_NET_RAW."`
	Address   string        `placeholder:"ADDRESS" help:"With --dut, the tester's address of IPv4. Default: the first of the interface."`
	To        []string      `name:"to" sep:"," placeholder:"ADDRESS" help:"With --dut, an address besides the adapter's that packets may go to, such as the group 239.1.2.3 of X09_316."`
	Window    time.Duration `default:"200ms" placeholder:"TIME" help:"With --dut, the time in which the adapter has answered for certain. Default: ${default}."`
	Jitter    time.Duration `default:"1ms" placeholder:"TIME" help:"With --dut, by how much the way of a packet and the timers of the adapter may vary; ACK timeouts are ten times as long at least. Default: ${default}."`
	SMKey     string        `name:"sm-key" default:"1" placeholder:"N" help:"With --dut ibsim:NAME, the SM_Key of trusted requests; 0: not known. Default: ${default}, that of OpenSM."`
	Rate      int           `default:"10000" placeholder:"N" help:"With --dut, frames a second at most. Default: ${default}."`
}

// check finds what is wrong with the flags.
func (c *conformDUT) check() error {
	switch {
	case c.DUT == "" && (c.Secret != "" || c.Interface != "" || c.Address != "" || len(c.To) > 0):
		return errors.New("cli: --secret, --interface, --address and --to are of a real adapter: give --dut HOST:PORT too, or leave them out")
	case c.DUT == "":
		return nil
	case c.isManager():
		return c.checkManager()
	case c.Secret == "":
		return errors.New("cli: --dut needs the secret of both machines: give --secret FILE, which ibwitness dut --new-secret FILE makes")
	case c.Interface == "":
		return errors.New("cli: --dut needs the interface by which the adapter is reached: give --interface NAME (`ip route get ADDRESS` names it)")
	case c.Window < time.Millisecond || c.Jitter < 0 || c.Jitter > time.Second:
		return errors.New("cli: give --window 1ms or more, and --jitter up to 1s")
	case c.Rate < 1 || c.Rate > 1e6:
		return fmt.Errorf("cli: --rate %d: give 1 to 1000000 frames a second", c.Rate)
	}
	return nil
}

// connected is an adapter that can be reached.
type connected struct {
	*conform.Live
	name string
	port *live.Port
	dial func(ctx context.Context, told func(*cq.Event)) (*remote.Client, error)
}

func (c *connected) close() error { return c.port.Close() }

// connect asks the adapter what it is, and opens the interface.
func (c *conformDUT) connect(ctx context.Context) (*connected, error) {
	secret, err := remote.ReadSecret(c.Secret)
	if err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, told func(*cq.Event)) (*remote.Client, error) {
		return remote.Dial(ctx, c.DUT, secret, told)
	}
	first, err := dial(ctx, nil)
	if err != nil {
		return nil, err
	}
	info := first.Info()
	if err := first.Close(); err != nil {
		return nil, err
	}
	l, err := c.ends(&info)
	if err != nil {
		return nil, err
	}
	to := []packet.Addr{l.Device.IPv4}
	if !l.Device.IPv6.IsZero() {
		to = append(to, l.Device.IPv6)
	}
	for _, text := range c.To {
		a, err := packet.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("cli: --to: %w", err)
		}
		to = append(to, a)
	}
	port, err := live.OpenPort(live.SendOptions{Interface: c.Interface, To: to, Rate: c.Rate})
	if err != nil {
		return nil, err
	}
	l.Wire, l.Window, l.Jitter = port, c.Window, c.Jitter
	l.Open = func(ctx context.Context, told func(*cq.Event)) (conform.Consumer, error) { return dial(ctx, told) }
	return &connected{l, info.Device + " at " + c.DUT, port, dial}, nil
}

// target is the adapter for tests.
func (c *connected) target() *conform.Target {
	return &conform.Target{Name: c.name, Has: conform.Control | conform.Memory | conform.Reads, Live: c.Live}
}

// nobody is an address that is kept for documents (RFC 5737), and so nobody has.
var nobody = packet.IPv4Addr([]byte{192, 0, 2, 1})

// ends finds the addresses of both ends.
func (c *conformDUT) ends(info *remote.Info) (*conform.Live, error) {
	i, err := net.InterfaceByName(c.Interface)
	if err != nil {
		return nil, fmt.Errorf("cli: --interface %s: %w: `ip link` lists the interfaces", c.Interface, err)
	}
	l := &conform.Live{Stranger: nobody}
	copy(l.Tester.MAC[:], i.HardwareAddr)
	l.Tester.RoCEv1 = true
	list, err := i.Addrs()
	if err != nil {
		return nil, fmt.Errorf("cli: --interface %s: %w", c.Interface, err)
	}
	for _, a := range list {
		n, ok := a.(*net.IPNet)
		switch {
		case !ok:
		case n.IP.To4() != nil && l.Tester.IPv4.IsZero():
			l.Tester.IPv4 = packet.IPv4Addr(n.IP.To4())
		case n.IP.To4() == nil && l.Tester.IPv6.IsZero():
			l.Tester.IPv6 = packet.GIDAddr(n.IP)
		}
	}
	if c.Address != "" {
		a, err := packet.ParseAddr(c.Address)
		if err != nil || !a.IsIPv4() {
			return nil, fmt.Errorf("cli: --address %s: give an address of IPv4", c.Address)
		}
		l.Tester.IPv4 = a
	}
	l.Device = deviceEnd(info, l.Tester.IPv6)
	l.MTU = min(int(info.MTU), fits(i.MTU))
	switch {
	case !info.Active:
		return nil, fmt.Errorf("cli: the port of %s at %s is %s: bring its network interface up (ip link set %s up)", info.Device, c.DUT, info.State, info.Interface)
	case l.Device.IPv4.IsZero():
		return nil, fmt.Errorf("cli: %s at %s has no GID of RoCEv2 and IPv4: give its network interface %s an address", info.Device, c.DUT, info.Interface)
	case l.MTU < 1024:
		return nil, fmt.Errorf("cli: the path MTU between %s and %s is less than 1024 bytes, which the tests need: give the interfaces an MTU of 1500 (ip link set %s mtu 1500)", c.Interface, c.DUT, c.Interface)
	case l.Tester.IPv4.IsZero():
		return nil, fmt.Errorf("cli: %s has no address of IPv4: give it one, or --address", c.Interface)
	}
	return l, nil
}

// fits is the MTU of InfiniBand whose packets fit into those of IP of so many bytes.
func fits(mtu int) int {
	const headers = 40 + 8 + 12 + 32 + 4 // IPv6, UDP, BTH, extension headers, ICRC
	n := 4096
	for ; n >= 256 && n+headers > mtu; n /= 2 {
	}
	return n
}

// deviceEnd is the end of the adapter. Of its addresses of IPv6 it takes one of the same scope as the tester's.
func deviceEnd(info *remote.Info, tester packet.Addr) conform.End {
	end := conform.End{MAC: info.MAC}
	for _, g := range info.GIDs {
		switch {
		case g.Addr.IsIPv4() && !g.RoCEv1 && end.IPv4.IsZero():
			end.IPv4 = g.Addr
		case !g.Addr.IsIPv4() && !g.RoCEv1 && end.IPv6.IsZero() && !tester.IsZero() && linkLocal(g.Addr) == linkLocal(tester):
			end.IPv6 = g.Addr
		}
	}
	for _, g := range info.GIDs {
		end.RoCEv1 = end.RoCEv1 || g.RoCEv1 && g.Addr == end.IPv4
	}
	return end
}

// linkLocal reports whether an address of IPv6 is one of the link (RFC 4291 section 2.5.6).
func linkLocal(a packet.Addr) bool { return a.Hi>>54 == 0xFE80>>6 }
