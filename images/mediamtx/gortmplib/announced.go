package gortmplib

import (
	"time"

	"github.com/bluenviron/gortmplib/pkg/amf0"
	"github.com/bluenviron/gortmplib/pkg/message"
)

// unannounced is how long a publisher is analysed, of its own time, that names no
// second medium: some send audio that their metadata does not name. Encoders that
// interleave begin both within a few frames.
const unannounced = 400 * time.Millisecond

// announced knows when all tracks of a publisher are known, so that nobody has
// to wait for the end of the analysis: its metadata names the codecs of video
// and of audio, both have sent their configuration, and media follows it; or it
// names no second one, and none has come for a while.
//
// Publishers that lack what they name are analysed for the whole period, and so
// are those with several tracks.
type announced struct {
	video, audio, several bool
}

// complete takes the next message into account; elapsed is the publisher's own time.
func (a *announced) complete(msg message.Message, video, audio map[uint8]*Track, elapsed time.Duration) bool {
	media := false
	switch msg := msg.(type) {
	case *message.DataAMF0:
		a.metadata(msg.Payload)
	case *message.VideoExMultitrack, *message.AudioExMultitrack:
		a.several = true
	case *message.Video:
		media = msg.Type == message.VideoTypeAU
	case *message.Audio:
		media = msg.Codec != message.CodecMPEG4Audio || msg.AACType == message.AudioAACTypeAU
	}
	hasVideo, hasAudio := video[0] != nil, audio[0] != nil
	if !media || a.several || a.video && !hasVideo || a.audio && !hasAudio {
		return false
	}
	return a.video && a.audio || (hasVideo || hasAudio) && elapsed >= unannounced
}

func (a *announced) metadata(payload amf0.Data) {
	for _, each := range payload {
		switch entries := each.(type) {
		case amf0.Object:
			a.codecs(entries)
		case amf0.ECMAArray:
			a.codecs(amf0.Object(entries))
		}
	}
}

func (a *announced) codecs(entries amf0.Object) {
	a.video = a.video || named(entries, "videocodecid")
	a.audio = a.audio || named(entries, "audiocodecid")
}

// named tells whether there is such a codec: a number other than 0, or a name.
func named(entries amf0.Object, key string) bool {
	value, _ := entries.Get(key)
	switch codec := value.(type) {
	case float64:
		return codec != 0
	case string:
		return codec != ""
	}
	return false
}
