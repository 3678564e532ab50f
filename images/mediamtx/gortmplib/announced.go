package gortmplib

import (
	"github.com/bluenviron/gortmplib/pkg/amf0"
	"github.com/bluenviron/gortmplib/pkg/message"
)

// announced knows when all tracks of a publisher are known, so that nobody has
// to wait for the end of the analysis: its metadata names the codecs of video
// and of audio, both have sent their configuration, and media follows it.
//
// Publishers that name only one of them are analysed for the whole period: some
// send sound that their metadata does not name. So are those with several tracks.
type announced struct {
	video, audio, several bool
}

// complete takes the next message into account.
func (a *announced) complete(msg message.Message, video, audio map[uint8]*Track) bool {
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
	return media && a.video && a.audio && !a.several && video[0] != nil && audio[0] != nil
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
