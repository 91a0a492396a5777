// Package attach verifies what a testbench hands over while its simulation runs: frames of the ports of a device, and its verbs events. It is what
// cmd/libibwitness gives to C, SystemVerilog, VHDL and Python; a testbench in Go uses agent.Session, or this package where it wants configuration in JSON, waivers
// and reports.
//
// A Run has no goroutine and no clock, and is not safe for concurrent use.
//
// Others may import it: its API is kept stable.
package attach
