/** Keeps the mix below full scale; what is not near it passes as it is. */

const LIMIT = {threshold: -1.5, knee: 0, ratio: 20, attack: 0.001, release: 0.1};
/** A compressor of Web Audio adds this part of what it takes from full scale to everything. */
const MAKE_UP = 0.6;

export function limiter(context: BaseAudioContext): {readonly input: AudioNode; readonly output: AudioNode} {
  const takenDb = -LIMIT.threshold * (1 - 1 / LIMIT.ratio);
  const input = new DynamicsCompressorNode(context, LIMIT);
  const output = new GainNode(context, {gain: 10 ** (-takenDb * MAKE_UP / 20)});
  input.connect(output);
  return {input, output};
}
