// Package remote serves a device to a tester on another machine: hcaagent.Control and hcaagent.Query by remote procedure calls (JSON-RPC 2.0 over TLS 1.3), with
// the device's events. Both ends prove that they have the same secret. docs/dut.md describes the protocol.
//
// One client at a time has the device. What it made is destroyed when it goes.
//
// Others may import it: its API is kept stable.
package remote
