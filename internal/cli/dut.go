package cli

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"ibwitness/cq"
	"ibwitness/hcaagent/realtime"
	"ibwitness/hcaagent/remote"
	"ibwitness/hcaagent/verbs"
	"ibwitness/packet"
)

type dutCommand struct {
	Device    string   `placeholder:"NAME" help:"Device to serve: one of --list, at its first port or NAME/PORT; or soft, the adapter in software."`
	Listen    string   `default:":4700" placeholder:"ADDRESS" help:"Address and TCP port at which testers connect. Default: ${default}."`
	Secret    string   `placeholder:"FILE" complete:"file" help:"File of the secret that testers must have too. Others must not be able to read it."`
	NewSecret string   `name:"new-secret" placeholder:"FILE" help:"Make a secret, write it into this new file, and end."`
	List      bool     `help:"List the devices of this machine, and end."`
	Interface string   `short:"i" placeholder:"NAME" help:"With --device soft, the network interface that its frames go over, which needs the capability CAP_NET_RAW."`
	Address   []string `sep:"," placeholder:"ADDRESS" help:"With --device soft, an IP address of it, which the interface must not have, or else the kernel answers packets to it too. Give the flag for each. Default: the first of the interface."`
	Fault     string   `placeholder:"NAME" complete:"fault" help:"With --device soft, a fault that it has; ibwitness simulate --faults lists them."`
	User      string   `placeholder:"NAME" help:"With --device soft, if started as root, become this user once the interface is open. All capabilities are given up in any case."`
}

// Help is below the flags' summary in --help.
func (dutCommand) Help() string {
	return `Serves a device under test: a tester on another machine drives it through its verbs, and takes its events. One tester at a time has it; what it made is destroyed when it goes. Both have the same secret, which is in a file: make it here, and copy it to the tester's machine. docs/dut.md describes the protocol.

Examples:

    ibwitness dut --new-secret dut.secret
    ibwitness dut --list
    ibwitness dut --device mlx5_0 --listen 10.0.0.1:4700 --secret dut.secret
    ibwitness dut --device soft -i eth0 --address 10.0.0.9 --secret dut.secret

Devices of --list need a program that is built with libibverbs: make verbs. It ends at SIGINT or SIGTERM, with exit status 0.`
}

// softDevice names the adapter in software.
const softDevice = "soft"

// Run serves the device.
func (c *dutCommand) Run(s *session) error {
	switch {
	case c.NewSecret != "":
		if err := remote.NewSecret().WriteFile(c.NewSecret); err != nil {
			return err
		}
		fmt.Fprintf(s.stdout, "%s has a new secret: copy it to the tester's machine, so that nobody else can read it\n", c.NewSecret)
		return nil
	case c.List:
		return c.list(s)
	case c.Device == "":
		return errors.New("cli: no device is named: give --device; ibwitness dut --list lists those of this machine")
	case c.Secret == "":
		return errors.New("cli: testers must have a secret: give --secret FILE; ibwitness dut --new-secret FILE makes one")
	case c.Device != softDevice && (c.Interface != "" || len(c.Address) > 0 || c.Fault != "" || c.User != ""):
		return errors.New("cli: --interface, --address, --fault and --user are for --device soft: leave them out")
	}
	secret, err := remote.ReadSecret(c.Secret)
	if err != nil {
		return err
	}
	open, closing, err := c.open(s)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return errors.Join(fmt.Errorf("cli: --listen: %w", err), closing())
	}
	if c.Device == softDevice {
		if err := drop(c.User); err != nil {
			return errors.Join(err, l.Close(), closing())
		}
	}
	return errors.Join(c.serve(s, l, secret, open), closing())
}

// list writes the names of the devices of this machine.
func (c *dutCommand) list(s *session) error {
	names, err := verbs.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		fmt.Fprintln(s.stdout, name)
	}
	if len(names) == 0 {
		s.log.Warn().Msg("this machine has no RDMA device, or its driver is not loaded")
	}
	return nil
}

// open returns what opens the device for a tester, and what closes what they share. The device is opened once, to see whether it can be, and what it is.
func (c *dutCommand) open(s *session) (remote.Open, func() error, error) {
	if c.Device != softDevice {
		open := func(told func(*cq.Event)) (remote.Device, error) { return verbs.Open(c.Device, told) }
		return open, func() error { return nil }, c.tell(s, open)
	}
	o := realtime.PortOptions{Interface: c.Interface, Fault: c.Fault}
	if c.Interface == "" {
		return nil, nil, errors.New("cli: --device soft sends on a network interface: give --interface")
	}
	for _, text := range c.Address {
		a, err := packet.ParseAddr(text)
		if err != nil || a.IsLID() || a.IsMulticast() || a.IsZero() {
			return nil, nil, fmt.Errorf("cli: --address %s: give an IP address of one adapter", text)
		}
		o.Addrs = append(o.Addrs, a)
	}
	port, err := realtime.OpenPort(o)
	if err != nil {
		return nil, nil, err
	}
	if port.Kernel {
		s.log.Warn().Msgf("the kernel has the address of the adapter too, and answers packets to it with ICMP: give --address one that %s does not have", c.Interface)
	}
	if err := c.tell(s, port.Open); err != nil {
		return nil, nil, errors.Join(err, port.Close())
	}
	return port.Open, port.Close, nil
}

// tell says what the device is.
func (c *dutCommand) tell(s *session, open remote.Open) error {
	d, err := open(func(*cq.Event) {})
	if err != nil {
		return err
	}
	i := d.Info()
	e := s.log.Info().Str("device", i.Device).Str("driver", i.Driver).Stringer("address", i.Addr).Str("port", i.State).Uint32("mtu", i.MTU)
	if i.Interface != "" {
		e = e.Str("interface", i.Interface).Stringer("mac", net.HardwareAddr(i.MAC[:]))
	}
	e.Msg("device under test")
	return d.Close()
}

// serve serves the device until a signal ends it.
func (c *dutCommand) serve(s *session, l net.Listener, secret remote.Secret, open remote.Open) error {
	ctx, stop := s.until(syscall.SIGHUP)
	defer stop()
	s.log.Info().Stringer("address", l.Addr()).Msg("the device is served")
	server := &remote.Server{
		Secret: secret, Open: open,
		Came: func(client net.Addr) { s.log.Info().Stringer("client", client).Msg("a client has the device") },
		Went: func(client net.Addr, err error) {
			e := s.log.Info()
			if err != nil {
				e = s.log.Warn().Str("error", plain(err))
			}
			e.Stringer("client", client).Msg("the client has gone, and what it made is destroyed")
		},
		Refused: func(client net.Addr, err error) {
			s.log.Warn().Stringer("client", client).Str("error", plain(err)).Msg("a client is refused")
		},
	}
	err := server.Serve(ctx, l)
	s.log.Info().Msg("ended")
	return err
}
