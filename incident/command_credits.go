package incident

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ibwitness/agent"
	"ibwitness/upper"
)

// reservedCredits are those with which an end of SMB Direct may only send a message that grants credits itself (MS-SMBD 3.1.5.1).
const reservedCredits = 1

// When an end whose credits are not known seems to have used them up: after how many messages at least without a grant, and how many times as
// many as before.
const (
	fewestUngranted = 16
	ungrantedTimes  = 4
)

// credits tells of the ends of a connection on which command o waits that may send nothing, as their peers have granted them no more.
func (t *teller) credits(i *Incident, c *agent.Connection, o *agent.Operation) {
	if t.lossy() {
		return // a grant may be lost
	}
	by := 1 - o.From
	if counted(c.Upper, by) {
		i.answerWithoutCredits(c, by)
	} else {
		i.grantsEnded(c, by, false)
	}
	if counted(c.Upper, o.From) {
		i.commandsWithoutCredits(c, o.From, counted(c.Upper, by) && starvedFirst(c.Upper.Credits, by))
	} else {
		i.grantsEnded(c, o.From, true)
	}
}

// starvedFirst reports whether an end had used up its credits before its peer had, so that it may not grant any either.
func starvedFirst(k *upper.Credits, end int) bool {
	return k.Left[end] == 0 && k.Granted[end].Frame != 0 && k.Used[end].Frame < k.Used[1-end].Frame
}

// counted reports whether it is known how many send credits an end has left.
func counted(u *agent.Upper, end int) bool { return u.Credits != nil && u.Credits.Known(end) }

// seemsStarved reports whether an end whose credits are not known has sent far more messages since it was granted some than ever before.
func seemsStarved(k *upper.Credits, end int) bool {
	since, before, granted := k.Ungranted(end)
	return granted && since >= max(fewestUngranted, ungrantedTimes*before)
}

// answerWithoutCredits says that the end which owes an answer may not send it.
func (i *Incident) answerWithoutCredits(c *agent.Connection, by int) {
	k := c.Upper.Credits
	if k.Left[by] > reservedCredits || k.Granted[by].Frame == 0 {
		return
	}
	left := "no send credit left"
	if k.Left[by] > 0 {
		left = "one send credit left, for a message that grants credits itself"
	}
	last := k.Granted[by]
	i.What = fmt.Sprintf("%s, and has %s: those of %v, the last of which were granted in frame %d, are used up.",
		strings.TrimSuffix(i.What, "."), left, &i.Local, last.Frame)
	i.fact("credits", fmt.Sprintf("%v granted %d in frame %d, the last; %v sent its last message in frame %d",
		&i.Local, last.Count, last.Frame, &i.Peer, k.Used[by].Frame))
	i.show(last.Frame, k.Used[by].Frame)
	i.FitsWith = nil // whatever it has, it may not send it
	i.Next = i.Next[min(1, len(i.Next)):]
	i.grantsNone(false)
}

// commandsWithoutCredits says that the end which sends commands may send none any more: its server grants it nothing, or may not, as it has
// none itself.
func (i *Incident) commandsWithoutCredits(c *agent.Connection, from int, follows bool) {
	k := c.Upper.Credits
	if k.Left[from] > reservedCredits || k.Granted[from].Frame == 0 {
		return
	}
	last, why := k.Granted[from], ""
	if follows {
		why = ", which may not send a message that grants any"
	}
	i.fact("credits", fmt.Sprintf("%v has used up its own send credits in frame %d: %v granted it the last %d in frame %d; "+
		"what else it has to send waits for those of %v%s", &i.Local, k.Used[from].Frame, &i.Peer, last.Count, last.Frame, i.Peer.Addr, why))
	i.show(last.Frame, k.Used[from].Frame)
	if !follows {
		i.grantsNone(true)
	}
}

// grantsNone adds that an end posts no receives: the server, or the client, so that the answer waits.
func (i *Incident) grantsNone(server bool) {
	if server {
		i.FitsWith = append(i.FitsWith, fmt.Sprintf("a program of %v that posts no receives any more, and so grants no credits", i.Peer.Addr))
		return
	}
	i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf(
		"a program of %v that posts no receives any more, and so grants no credits: the answer may be there, and wait for that", i.Local.Addr,
	))
	i.Next = slices.Insert(i.Next, 0, fmt.Sprintf(
		"on %v: what keeps its SMB client from posting receives (dmesg, /proc/fs/cifs/Stats, memory)", i.Local.Addr,
	))
}

// grantsEnded says of an end whose credits are not known, as where the connection began before the capture, that its peer has granted it none for far
// longer than ever before.
func (i *Incident) grantsEnded(c *agent.Connection, end int, client bool) {
	k := cmp.Or(c.Upper.Credits, c.Upper.Grants)
	if k == nil || !seemsStarved(k, end) {
		return
	}
	since, before, _ := k.Ungranted(end)
	who, by, last := &i.Peer, &i.Local, k.Granted[end]
	if client {
		who, by = by, who
	}
	i.fact("credits", fmt.Sprintf("%v granted %v the last %d in frame %d, and none for the %s that it sent after that, the last in frame %d; "+
		"before, it had after %s at most: it seems that %v has used its credits up, and waits for those of %v",
		by, who, last.Count, last.Frame, count(uint64(since), "message"), k.Used[end].Frame, count(uint64(before), "message"), who.Addr, by.Addr))
	i.show(last.Frame, k.Used[end].Frame)
	i.grantsNone(client)
}
