package cq

// Looked is how many ranges were looked at for what others in the memory of the device have become.
func (s *Source) Looked() int { return s.content.looked }
