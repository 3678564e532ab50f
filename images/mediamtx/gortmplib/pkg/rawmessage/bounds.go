package rawmessage

import "fmt"

const (
	// maxOtherSize bounds messages that are neither audio nor video, and all that is held of a restricted
	// connection: what they say is small, and takes many times its size once it is decoded.
	maxOtherSize = 64 * 1024

	typeAudio, typeVideo = 8, 9
)

// Restrict bounds messages and what is held of incomplete ones to maxOtherSize, all together.
func (r *Reader) Restrict(restricted bool) {
	r.restricted = restricted
}

func (r *Reader) maxHeld() uint32 {
	if r.restricted {
		return maxOtherSize
	}
	return maxBodySize
}

// held is the size of all incomplete messages: there may be one for each chunk stream.
func (r *Reader) held() uint32 {
	held := uint32(0)
	for _, rc := range r.chunkStreams {
		held += rc.curBodyRecv
	}
	return held
}

// allowed is how much of a chunk's body may be read: with one byte too many, tooMuch ends the connection.
func (r *Reader) allowed(bodySize uint32) uint32 {
	return min(bodySize, r.maxHeld()-min(r.maxHeld(), r.held())+1)
}

// tooMuch judges what has been read of a chunk stream's message.
func (r *Reader) tooMuch(rc *readerChunkStream) error {
	most := r.maxHeld()
	if rc.curType != typeAudio && rc.curType != typeVideo {
		most = maxOtherSize
	}
	if rc.curBodyLen > most {
		return fmt.Errorf("body size (%d) exceeds maximum (%d)", rc.curBodyLen, most)
	}
	if r.held() > r.maxHeld() {
		return fmt.Errorf("incomplete messages exceed maximum (%d)", r.maxHeld())
	}
	return nil
}
