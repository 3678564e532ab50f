package chunk

import (
	"io"
	"slices"
)

// firstBodyLen is how much room is made before anything of a body has come. Most chunks are smaller.
const firstBodyLen = 16 * 1024

// readBody reads a body. Room is made for as much again as has come, and not for
// what a header merely says: chunks may be as large as messages.
func readBody(r io.Reader, size uint32) ([]byte, error) {
	body := make([]byte, 0, min(size, firstBodyLen))
	for {
		come := len(body)
		body = body[:min(int(size), cap(body))]
		_, err := io.ReadFull(r, body[come:])
		if err != nil || len(body) == int(size) {
			return body, err
		}
		body = slices.Grow(body, min(int(size)-len(body), len(body)))
	}
}
