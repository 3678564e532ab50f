// Gives a page of the studio the project's connected sources as cameras and microphones, see docs/reference/studio.md.
//
// Which ones there are the agent's engine socket says, as it says to the page; pictures and sound are those of the agent's own script of
// sources. A page that hears of a source asks for its devices at once, so each question is put to the agent before it is answered.
(settings => {
  'use strict';
  const {engine, script} = settings;
  const devices = navigator.mediaDevices;
  if (!devices) return console.warn('onair: the page is no secure context, so it gets no sources');

  const RETRY_MS = 1000;
  const ASK_MS = 1000;
  const FIRST_MS = 3000;   // until a source that was opened gives something
  const LINGER_MS = 2000;  // a source that is opened again within this time goes on
  const KINDS = {video: 'videoinput', audio: 'audioinput'};
  const native = {
    enumerateDevices: devices.enumerateDevices.bind(devices),
    stop: MediaStreamTrack.prototype.stop,
    clone: MediaStreamTrack.prototype.clone,
    getSettings: MediaStreamTrack.prototype.getSettings,
  };
  const own = (object, values) => {
    for (const [name, value] of Object.entries(values)) Object.defineProperty(object, name, {value, configurable: true, writable: true});
    return object;
  };
  let audioContext = null;

  /** A connected source: a camera and a microphone, decoded once for all tracks that are taken of them. */
  class Device {
    constructor(id) {
      this.id = id;
      this.gone = false;
      this.tracks = new Set();
      this.source = null;
      this.infos = {
        video: info({kind: KINDS.video, deviceId: `camera-${id}`, groupId: id, label: id}),
        audio: info({kind: KINDS.audio, deviceId: `monitor-${id}`, groupId: id, label: `Monitor of ${id}`}),
      };
    }

    /** A track of this medium, `video` or `audio`. */
    async take(medium) {
      clearTimeout(this.closing);
      this.takers = (this.takers ?? 0) + 1;
      try {
        const source = await (this.source ??= this.open());
        if (this.gone) throw new DOMException('The source has disconnected', 'AbortError');
        const [track] = source.stream.getTracks().filter(each => each.kind === medium);
        return this.lend(track, medium);
      } finally {
        this.takers--;
        this.closeSoon();
      }
    }

    async open() {
      try {
        const {Source} = await import(script);
        audioContext ??= new AudioContext({latencyHint: 'interactive', sampleRate: 48000});
        const source = new Source(this.id, {audioContext});
        source.stream;
        source.video.srcObject = null;  // the page has elements of its own
        await new Promise(resolve => {
          source.addEventListener('connect', resolve, {once: true});
          setTimeout(resolve, FIRST_MS);
        });
        return source;
      } catch {
        this.source = null;
        throw new DOMException('The source cannot be opened', 'NotReadableError');
      }
    }

    lend(original, medium) {
      const track = native.clone.call(original), {deviceId, groupId, label} = this.infos[medium];
      this.tracks.add(track);
      return own(track, {
        label,
        getSettings: () => ({...native.getSettings.call(track), deviceId, groupId}),
        getCapabilities: () => ({deviceId, groupId}),
        applyConstraints: async () => undefined,
        clone: () => this.gone || track.readyState === 'ended' ? native.clone.call(track) : this.lend(track, medium),
        stop: () => {
          native.stop.call(track);
          this.tracks.delete(track);
          this.closeSoon();
        },
      });
    }

    closeSoon() {
      clearTimeout(this.closing);
      if (!this.tracks.size && !this.takers && this.source) this.closing = setTimeout(() => this.close(), this.gone ? 0 : LINGER_MS);
    }

    close() {
      this.source?.then(source => source.close(), () => undefined);
      this.source = null;
    }

    /** The source has disconnected: its tracks end, as those of a camera that is pulled out. */
    end() {
      this.gone = true;
      for (const track of [...this.tracks]) {
        track.stop();
        track.dispatchEvent(new Event('ended'));
      }
      this.closeSoon();
    }
  }

  function info(values) {
    const made = Object.create(InputDeviceInfo.prototype);
    own(made, {...values, toJSON: () => ({...values}), getCapabilities: () => ({deviceId: values.deviceId, groupId: values.groupId})});
    for (const name of Object.keys(values)) Object.defineProperty(made, name, {enumerable: true});
    return made;
  }

  // -- which sources are connected --------------------------------------------------------------

  const present = new Map();
  let told = 0;

  function isPresent(ids) {
    let changed = false;
    for (const [id, device] of present) {
      if (ids.has(id)) continue;
      present.delete(id);
      device.end();
      changed = true;
    }
    for (const id of ids) {
      if (present.has(id)) continue;
      present.set(id, new Device(id));
      changed = true;
    }
    if (changed) devices.dispatchEvent(new Event('devicechange'));
  }

  function take({name, payload}) {
    const ids = new Set(present.keys());
    if (name === 'state') return isPresent(new Set(payload.sources.filter(each => each.connected).map(each => each.id)));
    if (name === 'source.connect') ids.add(payload.id);
    if (name === 'source.disconnect') ids.delete(payload.id);
    isPresent(ids);
  }

  function follow() {
    const socket = new WebSocket(engine);
    socket.onmessage = ({data}) => {
      told++;
      take(JSON.parse(data));
    };
    socket.onclose = () => setTimeout(follow, RETRY_MS);
  }

  /** Asks what is connected now; while the agent is away the last word holds. */
  function ask() {
    const before = told;
    return new Promise(resolve => {
      const socket = new WebSocket(engine), timer = setTimeout(() => socket.close(), ASK_MS);
      socket.onmessage = ({data}) => {
        // What came the other way meanwhile may be newer
        if (told === before) take(JSON.parse(data));
        socket.onmessage = null;
        socket.close();
        resolve(told === before ? undefined : ask());
      };
      socket.onclose = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  // -- what the page sees -----------------------------------------------------------------------

  function wishes(value) {
    if (value === undefined || value === null) return {};
    if (typeof value === 'string' || Array.isArray(value)) return {ideal: [value].flat()};
    return {
      ...value.exact !== undefined && {exact: [value.exact].flat()},
      ...value.ideal !== undefined && {ideal: [value.ideal].flat()},
    };
  }

  function chosen(medium, constraints) {
    let fitting = [...present.values()];
    if (!fitting.length) throw new DOMException('Requested device not found', 'NotFoundError');
    for (const name of ['deviceId', 'groupId']) {
      const {exact, ideal} = wishes(constraints[name]);
      const having = values => fitting.filter(device => values.includes(device.infos[medium][name]));
      if (exact) fitting = having(exact);
      if (!fitting.length) throw new OverconstrainedError(name, 'no such source is connected');
      if (ideal && having(ideal).length) fitting = having(ideal);
    }
    return fitting[0];
  }

  function streamOf(tracks) {
    const stream = new MediaStream(tracks);
    return own(stream, {clone: () => streamOf(stream.getTracks().map(track => track.clone()))});
  }

  const {permissions} = navigator, query = permissions.query.bind(permissions);
  own(permissions, {
    async query(descriptor) {
      const {name} = descriptor ?? {};
      if (name !== 'camera' && name !== 'microphone') return query(descriptor);
      return own(new EventTarget(), {name, state: 'granted', onchange: null});
    },
  });
  own(devices, {
    async enumerateDevices() {
      const [others] = await Promise.all([native.enumerateDevices(), ask()]);
      const inputs = Object.keys(KINDS).flatMap(medium => [...present.values()].map(device => device.infos[medium]));
      return [...inputs, ...others.filter(each => each.kind === 'audiooutput')];
    },
    async getUserMedia(constraints = {}) {
      const wanted = Object.keys(KINDS).filter(medium => constraints[medium]);
      if (!wanted.length) throw new TypeError('At least one of audio and video must be requested');
      await ask();
      const taken = await Promise.allSettled(wanted.map(async medium => chosen(medium, constraints[medium]).take(medium)));
      const refused = taken.find(each => each.status === 'rejected');
      if (!refused) return streamOf(taken.map(each => each.value));
      for (const each of taken) each.value?.stop();
      throw refused.reason;
    },
  });
  follow();
})(SETTINGS);
