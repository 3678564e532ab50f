// Command room-camera is a guest whose camera was encoded beforehand: it publishes a file of VP8 (IVF) into a room, again
// and again, until it is told to end. It prints a line once the camera is published.
//
//	ROOM_TOKEN=... room-camera URL FILE
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/livekit/protocol/livekit"
	lksdk "github.com/livekit/server-sdk-go/v2"
	"github.com/pion/webrtc/v4"
	"github.com/pion/webrtc/v4/pkg/media"
	"github.com/pion/webrtc/v4/pkg/media/ivfreader"
)

const tokenVariable = "ROOM_TOKEN"

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: ROOM_TOKEN=... room-camera URL FILE")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := publish(ctx, os.Args[1], os.Getenv(tokenVariable), os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// publish joins the room and shows the file there until the context ends.
func publish(ctx context.Context, url, token, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, header, err := ivfreader.NewWith(file)
	if err != nil {
		return err
	}
	room, err := lksdk.ConnectToRoomWithToken(url, token, lksdk.NewRoomCallback(), lksdk.WithAutoSubscribe(false))
	if err != nil {
		return err
	}
	defer room.Disconnect()
	track, err := lksdk.NewLocalTrack(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90_000})
	if err != nil {
		return err
	}
	options := &lksdk.TrackPublicationOptions{
		Name: "camera", Source: livekit.TrackSource_CAMERA,
		VideoWidth: int(header.Width), VideoHeight: int(header.Height),
	}
	if _, err = room.LocalParticipant.PublishTrack(track, options); err != nil {
		return err
	}
	fmt.Println("published")
	return film(ctx, track, file)
}

// film writes the frames of a file, at the rate that its header says, and from its beginning again after its end.
func film(ctx context.Context, track *lksdk.LocalTrack, file io.ReadSeeker) error {
	var ticker *time.Ticker
	for {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		frames, header, err := ivfreader.NewWith(file)
		if err != nil {
			return err
		}
		apart := time.Second * time.Duration(header.TimebaseNumerator) / time.Duration(header.TimebaseDenominator)
		if ticker == nil {
			ticker = time.NewTicker(apart)
			defer ticker.Stop()
		}
		for {
			frame, _, err := frames.ParseNextFrame()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			if err = track.WriteSample(media.Sample{Data: frame, Duration: apart}, nil); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			}
		}
	}
}
