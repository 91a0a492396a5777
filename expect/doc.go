// Package expect holds the packet that should have been sent beside the one that was, field by field: the fields of all headers of tables T1 and T2, the payload,
// the pad bytes and the CRCs. A verifier says which fields its knowledge determines and what they should hold; the rest is free, and the packet shows what it has.
//
// Others may import it: its API is kept stable.
package expect
