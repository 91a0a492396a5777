//go:build !unix

package guard

// descriptors is how many the process may have, as far as is known.
func descriptors() uint64 { return mostClients + spare }
