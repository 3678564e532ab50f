/** A room that was joined, by LiveKit: hidden, as a renderer's token says, and subscribed only to what is shown. */

import {
  LogLevel, Room, RoomEvent, setLogLevel, Track, type ReconnectPolicy, type RemoteParticipant, type RemoteTrackPublication,
} from 'livekit-client';
import {dueMedia} from '../agent/due_media';
import {HeldPicture, HeldSound} from './held_track';
import type {PageRoom, ParticipantFeed, SentSound, Shown, ParticipantWatch} from './room';

export interface JoinedRoom {
  /** Subscribes to what is watched now, and shows it. */
  refresh(): void;
  leave(): void;
}

const OF: Record<ParticipantFeed, {readonly video: Track.Source; readonly audio: Track.Source}> = {
  webcam: {video: Track.Source.Camera, audio: Track.Source.Microphone},
  screen: {video: Track.Source.ScreenShare, audio: Track.Source.ScreenShareAudio},
};
const CHANGES = [
  RoomEvent.ParticipantConnected, RoomEvent.ParticipantDisconnected, RoomEvent.TrackPublished, RoomEvent.TrackUnpublished,
  RoomEvent.TrackSubscribed, RoomEvent.TrackUnsubscribed, RoomEvent.TrackMuted, RoomEvent.TrackUnmuted, RoomEvent.Reconnected,
] as const;

// It writes addresses with their tokens
setLogLevel(LogLevel.silent);

/** What comes while signalling does not is looked for so often; without media a room is given up after so many looks. */
const LOOK_MS = 1000, RESUME_LOOKS = 4;
/** The agent restarts within a second or two, and is next to this page; room servers take longer. */
const RETRY_MS = 200, LONGEST_RETRY_MS = 2000;
const RETRIES: ReconnectPolicy = {
  nextRetryDelayInMs: ({elapsedMs}) => Math.min(LONGEST_RETRY_MS, Math.max(RETRY_MS, elapsedMs / 4)) * (0.5 + Math.random()),
};

/**
 * @param lost - called once the connection has ended, whoever ended it.
 * @throws ConnectionError
 */
export async function join({url, token}: PageRoom, watches: ReadonlySet<ParticipantWatch>, lost: () => void): Promise<JoinedRoom> {
  const media = await dueMedia().catch(scriptsFailed), shown = new WeakMap<ParticipantWatch, string>();
  const room = new Room({adaptiveStream: false, dynacast: false, reconnectPolicy: RETRIES});
  const pictures = new Map<string, HeldPicture>(), sounds = new Map<string, SentSound>(), pumps = new Map<string, HTMLAudioElement>();

  const trackOf = (publication: RemoteTrackPublication | undefined): MediaStreamTrack | null =>
    publication?.isMuted === false ? publication.track?.mediaStreamTrack ?? null : null;
  const pictureOf = (track: MediaStreamTrack | null): MediaStream | null => {
    if (!track) return null;
    const picture = pictures.get(track.id) ?? new HeldPicture(track, media);
    pictures.set(track.id, picture);
    return picture.stream;
  };
  const soundOf = (track: MediaStreamTrack | null): SentSound | null => {
    if (!track) return null;
    const {id} = track, known = sounds.get(id);
    if (known) return known;
    const sound = {id, hold: (context: AudioContext) => new HeldSound(track, context, media)};
    sounds.set(id, sound);
    // Sound of a peer is decoded only while an element plays it
    const pump = Object.assign(new Audio(), {srcObject: new MediaStream([track]), muted: true});
    pumps.set(id, pump);
    pump.play().catch(() => undefined);
    return sound;
  };
  const of = (watch: ParticipantWatch): Shown => {
    const participant = room.remoteParticipants.get(watch.identity);
    const {video, audio} = OF[watch.feed], sent = participant?.getTrackPublication(video);
    return {
      video: pictureOf(trackOf(sent)),
      audio: soundOf(trackOf(participant?.getTrackPublication(audio))),
      present: participant !== undefined,
      isComing: sent !== undefined && !sent.isMuted && !sent.track,
      problem: participant ? null : 'the participant is not in the room',
    };
  };
  const refresh = (): void => {
    for (const participant of room.remoteParticipants.values()) subscribe(participant, watches);
    const live = new Set(publications().map(({track}) => track?.mediaStreamTrack.id));
    for (const id of held()) if (!live.has(id)) forget(id);
    for (const watch of watches) {
      const now = of(watch), key = JSON.stringify([now.video?.id, now.audio?.id, now.present, now.isComing]);
      if (shown.get(watch) === key) continue;
      shown.set(watch, key);
      watch.show(now);
    }
  };
  const held = (): string[] => [...pictures.keys(), ...sounds.keys()];
  const forget = (id: string): void => {
    pictures.get(id)?.close();
    pictures.delete(id);
    sounds.delete(id);
    const pump = pumps.get(id);
    if (pump) pump.srcObject = null;
    pumps.delete(id);
  };
  const publications = (): RemoteTrackPublication[] =>
    [...room.remoteParticipants.values()].flatMap(each => [...each.trackPublications.values()]);
  // Sound without packets is silence, and goes on
  const arrivedMs = (): number =>
    Math.max(0, ...publications().flatMap(({track}) => track?.receiver?.getSynchronizationSources() ?? []).map(each => each.timestamp));
  // The client tries for ever. While media comes nothing is lost; a room that was opened again is joined sooner than that
  let resuming: ReturnType<typeof setInterval> | undefined;
  const resume = (): void => {
    if (resuming !== undefined) return;
    let looks = 0, beforeMs = arrivedMs();
    resuming = setInterval(() => {
      const nowMs = arrivedMs(), comes = nowMs > beforeMs;
      beforeMs = nowMs;
      if (++looks >= RESUME_LOOKS && !comes) lost();
    }, LOOK_MS);
  };
  const resumed = (): void => {
    clearInterval(resuming);
    resuming = undefined;
  };
  for (const change of CHANGES) room.on(change, refresh);
  try {
    await room.connect(url, token, {autoSubscribe: false});
  } catch (error) {
    room.removeAllListeners();
    await room.disconnect();
    throw error;
  }
  room.on(RoomEvent.Reconnecting, resume).on(RoomEvent.SignalReconnecting, resume).on(RoomEvent.Reconnected, resumed);
  room.on(RoomEvent.Disconnected, lost);
  return {
    refresh,
    leave() {
      resumed();
      room.removeAllListeners();
      for (const id of held()) forget(id);
      void room.disconnect();
    },
  };
}

function scriptsFailed(): never {
  throw Object.assign(new Error(), {reasonName: 'the scripts of due media failed'});
}

function subscribe(participant: RemoteParticipant, watches: ReadonlySet<ParticipantWatch>): void {
  const wanted = new Set([...watches].filter(each => each.identity === participant.identity)
    .flatMap(({feed}) => [OF[feed].video, OF[feed].audio]));
  for (const publication of participant.trackPublications.values()) {
    const want = wanted.has(publication.source);
    if (publication.isDesired !== want) publication.setSubscribed(want);
  }
}
