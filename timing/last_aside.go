package timing

// lastAside is which part of the bytes of the busiest connection is little: less than one in so many.
const lastAside = 64

// withoutLittle divides connections into those that take part in what goes on in rounds and those that carry little beside the busiest.
func withoutLittle(list []Link) (main, little []Link) {
	most := uint64(0)
	for i := range list {
		most = max(most, list[i].bytes())
	}
	for i := range list {
		if list[i].bytes() < most/lastAside {
			little = append(little, list[i])
		} else {
			main = append(main, list[i])
		}
	}
	return main, little
}

// bytes is how many the messages of a connection have, about.
func (l *Link) bytes() (n uint64) {
	for k := range l.Sent {
		messages := uint64(len(l.Sent[k]))
		for _, r := range l.Runs[k] {
			messages += uint64(r.Count)
		}
		n += messages * l.Bytes[k]
	}
	return n
}
