package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ibwitness/conform"
)

// ibsimPrefix begins a --dut that is a subnet manager.
const ibsimPrefix = "ibsim:"

// isManager reports whether the device under test is a subnet manager.
func (c *conformDUT) isManager() bool { return strings.HasPrefix(c.DUT, ibsimPrefix) }

// key is the SM_Key of trusted requests.
func (c *conformDUT) key() (uint64, error) {
	n, err := strconv.ParseUint(c.SMKey, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("cli: --sm-key %s: give a number of 64 bits, such as 0x1", c.SMKey)
	}
	return n, nil
}

// checkManager finds what is wrong with the flags where the device is a subnet manager.
func (c *conformDUT) checkManager() error {
	if c.Secret != "" || c.Interface != "" || c.Address != "" || len(c.To) > 0 {
		return errors.New("cli: --secret, --interface, --address and --to are of a real adapter, and --dut ibsim:NAME is a subnet manager: leave them out")
	}
	_, err := c.key()
	return err
}

// serve offers a fabric, and waits until a subnet manager has brought it up.
func (c *conformDUT) serve(ctx context.Context, s *session) (*conform.Target, func() error, error) {
	key, err := c.key()
	if err != nil {
		return nil, nil, err
	}
	name := strings.TrimPrefix(c.DUT, ibsimPrefix)
	subnet, err := conform.ServeSubnet(name)
	if err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(s.stderr, "waiting for a subnet manager: IBSIM_SOCKNAME=%s SIM_HOST=%s LD_PRELOAD=libumad2sim.so opensm\n", subnet.Name(), conform.SubnetManager)
	if err := subnet.Await(ctx); err != nil {
		return nil, nil, errors.Join(err, subnet.Close())
	}
	return subnet.Target(key), subnet.Close, nil
}

// ofDevice are the tests that are for the real device, of those that are run where none is named.
func (c *conformDUT) ofDevice(tests []*conform.Test) []*conform.Test {
	return slices.DeleteFunc(tests, func(t *conform.Test) bool {
		if c.isManager() {
			return t.Needs&conform.Administration == 0
		}
		return !t.OnEthernet()
	})
}
