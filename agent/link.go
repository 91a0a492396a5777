package agent

import "ibwitness/link"

// ofLink marks findings of the verifier of a link: on a frame they stand behind those on its connection, whichever agent made them.
const ofLink = 1 << 30

// Link verifies what a tap of a link saw, of a data packet beside Packet. All of a link goes to one agent, in the order of time.
func (t *Transport) Link(e *link.Event) {
	if t.links == nil {
		t.links = link.NewVerifier()
		if t.lossy {
			t.links.Dropped()
		}
	}
	t.links.Event(e)
}

// endLinks takes over what the verifier of links found.
func (t *Transport) endLinks() {
	if t.links == nil {
		return
	}
	for _, f := range t.links.Rec.Findings {
		f.Seq |= ofLink
		t.Rec.Findings = append(t.Rec.Findings, f)
	}
	for i, c := range t.links.Rec.Cover {
		t.Rec.Cover[i].Exercised += c.Exercised
		t.Rec.Cover[i].Violated += c.Violated
		t.Rec.Cover[i].Unproven += c.Unproven
	}
	t.links = nil
}
