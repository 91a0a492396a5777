// Package conform runs active tests: the tester sends to a device under test and judges what comes back. It is the packet-level peer of an adapter, which is driven
// through its verbs meanwhile, or a subnet manager that asks a switch. Each run is judged by all passive rules too. Time is that of the simulation: there is no other clock and no other source of chance than the
// seed, so that a test gives the same result in any order and beside any others.
package conform
