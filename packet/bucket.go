package packet

// Buckets is how many buckets there are.
const Buckets = 64

// Bucket is the bucket of a pair of addresses, 0 … Buckets-1: the same for both directions, and in every run. What is limited by bucket does not depend on how
// many workers share the pairs of addresses, where each bucket has one of them.
func Bucket(a, b Addr) int {
	x := (a.Lo^b.Lo)*0x9e3779b97f4a7c15 + a.Lo + b.Lo
	x += (a.Hi^b.Hi)*0xbf58476d1ce4e5b9 + a.Hi + b.Hi
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	return int(x % Buckets)
}
