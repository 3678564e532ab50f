/**
 * Mixes what layers sound like: a voice per layer, a bus per layout, a limiter at the end. Every change of loudness is a ramp.
 * The audio context begins with the first voice, and rests while there is none.
 */

import {limiter} from './limiter';
import {levelDb, METER_SAMPLES} from './level';
import {loudnessAt, type Loudness} from '../transition/keyframes';

/** How long a change takes that nobody gave a time for: the lead, then a ramp too short to be heard as a fade and too long to click. */
export const RAMP_S = 0.04;
/** A ramp begins so long after the clock of sound was read: a thread that loses its core meanwhile leaves no part of it out. */
const LEAD_S = 0.02;
/** After that, what was to fade out has, unless sound stood still meanwhile. */
const FADED_MS = 100, LOOK_MS = 20;
/** Where there is nothing that plays, sound stands still for good. */
const STILL_MS = 1500;

export class Mixer {
  readonly voices = new Set<Voice>();
  private context: BaseAudioContext | null = null;
  private master: AudioNode | null = null;

  constructor(private readonly make: () => BaseAudioContext = () => new AudioContext({sampleRate: 48_000, latencyHint: 'interactive'})) {}

  /** The context, which is begun. */
  get audioContext(): BaseAudioContext {
    return this.context ??= this.make();
  }

  /** What sound takes from its graph to where it is heard, in seconds. */
  get latencyS(): number {
    return this.context instanceof AudioContext ? this.context.outputLatency || 0 : 0;
  }

  /** Where buses go to. */
  get output(): AudioNode {
    if (!this.master) {
      const {input, output} = limiter(this.audioContext);
      output.connect(this.audioContext.destination);
      this.master = input;
    }
    return this.master;
  }

  /** Levels of the last second in dBFS, by layer, of layouts on air; of the louder one where two layouts have the same layer. */
  levels(): Record<string, number> {
    const levels: Record<string, number> = {};
    for (const voice of this.voices) {
      const {layerId} = voice;
      if (layerId !== '' && voice.bus.isHeard) levels[layerId] = Math.max(levels[layerId] ?? -Infinity, voice.levelDb());
    }
    return levels;
  }

  /** Calls back once what begins to fade out now has: on the clock of sound, which stands still where the machine is too slow. */
  afterFade(then: () => void): void {
    const {context} = this, endS = (context?.currentTime ?? 0) + RAMP_S * 2, stillMs = performance.now() + STILL_MS;
    const look = (): void => {
      if (context?.state === 'running' && context.currentTime < endS && performance.now() < stillMs) setTimeout(look, LOOK_MS);
      else then();
    };
    setTimeout(look, FADED_MS);
  }

  rest(): void {
    if (!(this.context instanceof AudioContext)) return;
    if (this.voices.size) void this.context.resume();
    else void this.context.suspend();
  }
}

/** How often a fade is compared with its transition, and how far it may be from it. */
const COMPARED_MS = 100, APART_MS = 40;

interface Fade {
  readonly points: Loudness;
  readonly durationMs: number;
  readonly beganMs: number;
}

/** The sound of one layout. */
export class Bus {
  private gain: GainNode | null = null;
  private loudness = 0;
  private fade: Fade | null = null;
  private comparing: ReturnType<typeof setInterval> | undefined;
  /** By how much the page's clock was before the context's when the fade was scheduled. */
  private aheadMs = 0;

  constructor(private readonly mixer: Mixer) {}

  /** Whether its layout is on air, or on its way there. */
  get isHeard(): boolean {
    return this.loudness > 0;
  }

  voice(layerId: string): Voice {
    if (!this.gain) {
      const {fade} = this, gain = fade ? loudnessAt(fade.points, (performance.now() - fade.beganMs) / fade.durationMs) : this.loudness;
      this.gain = new GainNode(this.mixer.audioContext, {gain});
      this.gain.connect(this.mixer.output);
      this.goOn();
    }
    const voice = new Voice(layerId, this.mixer, this, this.gain);
    this.mixer.rest();
    return voice;
  }

  /** Goes to a loudness within a moment. */
  set(loudness: number): void {
    this.loudness = loudness;
    this.end();
    if (this.gain) ramp(this.gain.gain, this.mixer.audioContext.currentTime, [[RAMP_S, loudness]]);
  }

  /** Follows a transition, ahead of it by what sound takes to be heard: its picture is seen sooner. */
  follow(points: Loudness, durationMs: number): void {
    this.loudness = points.at(-1)?.gain ?? this.loudness;
    this.end();
    const fade = this.fade = {points, durationMs, beganMs: performance.now()};
    this.goOn();
    this.comparing = setInterval(() => this.compare(fade), COMPARED_MS);
  }

  /** Goes the rest of the way of a transition; its first voice may come in the middle. */
  private goOn(): void {
    if (!this.gain || !this.fade) return;
    const {points, durationMs, beganMs} = this.fade, {audioContext, latencyS} = this.mixer;
    const passedMs = performance.now() - beganMs;
    this.aheadMs = this.clocksApartMs();
    const steps = points.map(({offset, gain}): Step => [(offset * durationMs - passedMs) / 1000 - latencyS, gain]);
    const there = loudnessAt(points, (passedMs + (RAMP_S + latencyS) * 1000) / durationMs);
    ramp(this.gain.gain, audioContext.currentTime, [[RAMP_S, there], ...steps.filter(([afterS]) => afterS > RAMP_S)]);
  }

  /** Brings a fade back to its transition: where the machine is too slow, sound stands still while the picture goes on. */
  private compare(fade: Fade): void {
    if (this.gain && this.clocksApartMs() - this.aheadMs > APART_MS) this.goOn();
    if (performance.now() - fade.beganMs > fade.durationMs) this.end();
  }

  private clocksApartMs(): number {
    return performance.now() - this.mixer.audioContext.currentTime * 1000;
  }

  private end(): void {
    clearInterval(this.comparing);
    this.fade = null;
  }

  afterFade(then: () => void): void {
    this.mixer.afterFade(then);
  }

  close(): void {
    this.end();
    this.gain?.disconnect();
    this.gain = null;
  }
}

/** The sound of one layer; connect what it plays to `input`. */
export class Voice {
  readonly input: GainNode;
  private readonly meter: AnalyserNode;
  private volume = 1;
  private muted = true;

  constructor(readonly layerId: string, private readonly mixer: Mixer, readonly bus: Bus, output: AudioNode) {
    this.input = new GainNode(mixer.audioContext, {gain: 0});
    this.meter = new AnalyserNode(mixer.audioContext, {fftSize: METER_SAMPLES});
    this.input.connect(this.meter).connect(output);
    mixer.voices.add(this);
  }

  setVolume(volume: number): void {
    if (volume === this.volume) return;
    this.volume = volume;
    this.apply();
  }

  setMuted(muted: boolean): void {
    if (muted === this.muted) return;
    this.muted = muted;
    this.apply();
  }

  /** What sound takes from here to where it is heard, in seconds. */
  get latencyS(): number {
    return this.mixer.latencyS;
  }

  levelDb(): number {
    return levelDb(this.meter);
  }

  close(): void {
    ramp(this.input.gain, this.mixer.audioContext.currentTime, [[RAMP_S, 0]]);
    this.mixer.voices.delete(this);
    this.afterFade(() => {
      this.meter.disconnect();
      this.mixer.rest();
    });
  }

  afterFade(then: () => void): void {
    this.mixer.afterFade(then);
  }

  private apply(): void {
    ramp(this.input.gain, this.mixer.audioContext.currentTime, [[RAMP_S, this.muted ? 0 : this.volume]]);
  }
}

/** Something that is heard in a voice for a while: it fades in and out within a moment. */
export class Feed {
  private readonly gain: GainNode;

  constructor(private readonly node: AudioNode, private readonly voice: Voice) {
    this.gain = new GainNode(node.context, {gain: 0});
    node.connect(this.gain).connect(voice.input);
    ramp(this.gain.gain, node.context.currentTime, [[RAMP_S, 1]]);
  }

  end(): void {
    ramp(this.gain.gain, this.node.context.currentTime, [[RAMP_S, 0]]);
    this.voice.afterFade(() => {
      this.node.disconnect(this.gain);
      this.gain.disconnect();
    });
  }
}

type Step = readonly [afterS: number, value: number];

/** Holds of one parameter are so far apart at least: of two in the same sample Chromium takes the second for silence. */
const HOLDS_APART_S = 2 / 48_000;

interface Ramp {
  readonly beginS: number;
  readonly endS: number;
  /** Where it ends. */
  readonly value: number;
}

/** The last of each parameter. */
const ramps = new WeakMap<AudioParam, Ramp>();

/** Goes from the value that there is in a moment through these; a step that is due before takes a moment, not to click. */
export function ramp(param: AudioParam, now: number, steps: readonly Step[]): void {
  const last = ramps.get(param), beginS = Math.max(now + LEAD_S, (last?.beginS ?? 0) + HOLDS_APART_S);
  // A hold sets no value where no ramp is running then, and the next ramp would begin too early
  if (last && last.endS > beginS) param.cancelAndHoldAtTime(beginS);
  else param.setValueAtTime(last?.value ?? param.value, beginS);
  let end = {endS: beginS, value: last?.value ?? param.value};
  for (const [afterS, value] of steps) {
    end = {endS: Math.max(now + afterS, now + RAMP_S, beginS + HOLDS_APART_S), value};
    param.linearRampToValueAtTime(value, end.endS);
  }
  ramps.set(param, {beginS, ...end});
}
