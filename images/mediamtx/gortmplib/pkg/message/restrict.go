package message

// Restrict lets only small messages be read.
func (rw *ReadWriter) Restrict(restricted bool) {
	rw.r.r.Restrict(restricted)
}
