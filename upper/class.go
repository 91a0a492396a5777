package upper

// mostClasses is how many classes a tracker counts.
const mostClasses = 16

// Class is how long the commands of an opcode or a procedure took, of a protocol whose peers answer commands with messages of their own.
type Class struct {
	Open     int // that have begun and not ended, but for those that wait for something to happen
	Answered uint64
	Slow     uint64  // of these, those that took SlowAfter or longer
	Sum      int64   // nanoseconds, of those that were answered
	Longest  int64   // of them
	Newest   int64   // when the one of them began that began last, nanoseconds since the Unix epoch
	Frame    uint64  // in which it did
	Of       Command // the first of them
	second   second
	begun    uint16 // modulo 2^16
	code     uint32 // what Decoder.Class makes of them
	arg      uint64
}

// classify counts a command that begins.
func (t *Tracker) classify(c *Command) {
	code, arg := t.decoder.Class(c)
	for i := range t.classes {
		k := &t.classes[i]
		if k.code == code && k.arg == arg && k.Of.From == c.From {
			k.begun++
			c.class, c.nth = uint8(i), k.begun
			return
		}
	}
	if len(t.classes) == mostClasses {
		t.classless = true
		return
	}
	c.class, c.nth = uint8(len(t.classes)), 1
	t.classes = append(t.classes, Class{Of: *c, begun: 1, code: code, arg: arg})
}

// answered counts how long a command took.
func (k *Class) answered(c *Command, took int64) {
	k.Answered++
	k.Sum += took
	k.Longest = k.second.longer(k.Longest, took)
	if c.Since >= k.Newest {
		k.Newest, k.Frame = c.Since, c.Frame
	}
	if took >= SlowAfter {
		k.Slow++
	}
}

// Classes returns the classes of the commands; nil: there were more than are counted, or not all commands were followed.
func (t *Tracker) Classes() []Class {
	if t.classless || t.forgot || t.counts.GivenUp > 0 || !t.protocol.Answered() {
		return nil
	}
	list := append([]Class(nil), t.classes...)
	for i := range t.commands {
		if c := &t.commands[i]; c.state == open && !c.Waits {
			list[c.class].Open++
		}
	}
	return list
}

// ClassOf is the place of a command among the classes.
func (t *Tracker) ClassOf(c *Command) int { return int(c.class) }

// OthersAfter counts the commands of other classes that began after one and have ended. It is right where no more than 65535 of the same class began meanwhile.
func (t *Tracker) OthersAfter(c *Command) uint64 {
	if int(c.class) >= len(t.classes) {
		return 0
	}
	others := t.counts.Begun - c.order
	others -= min(others, uint64(t.classes[c.class].begun-c.nth))
	for i := range t.commands {
		if k := &t.commands[i]; k.state == open && k.order > c.order && k.class != c.class {
			others -= min(others, 1)
		}
	}
	return others
}

// Name names the commands of a class.
func (t *Tracker) Name(k *Class) string { return t.decoder.Name(&k.Of) }
