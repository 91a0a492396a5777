package conform

import (
	"fmt"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/hcaagent/soft"
	"ibwitness/packet"
	"ibwitness/qp"
)

// Port is where a device under test is put.
type Port struct {
	Addr  packet.Addr
	MAC   [6]byte
	Clock soft.Clock
	Send  func(frame []byte) // takes an Ethernet frame that leaves the device
	Event func(*cq.Event)    // takes events that no verb tells of
	Seed  uint64
}

// Device is a device under test. Tests drive it only by Control; Query tells the rules what its memory holds.
type Device interface {
	hcaagent.Control
	hcaagent.Query
	Limits() qp.Limits
	Receive(frame []byte) // takes a frame that has arrived at its port
}

// Target makes devices under test, one for each run.
type Target struct {
	Name string
	Has  Need
	Make func(Port) (Device, error)
}

// Soft is the adapter in software, with a fault where that is not empty; it shows the fault whenever it can.
func Soft(fault string) (*Target, error) {
	t := &Target{Name: "soft", Has: Control | Memory | Reads}
	if fault != "" {
		if soft.Faults[fault] == nil {
			return nil, fmt.Errorf("conform: no adapter has a fault %q: `ibwitness simulate --faults` lists them", fault)
		}
		t.Name += " with the fault " + fault
	}
	t.Make = func(p Port) (Device, error) {
		return soft.New(soft.Options{
			Addr: p.Addr, MAC: p.MAC, Clock: p.Clock, Send: p.Send, Event: p.Event, Seed: p.Seed, Fault: fault, FaultAll: true,
		})
	}
	return t, nil
}
