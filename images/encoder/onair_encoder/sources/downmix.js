// Two channels of as many as AAC has: by the weights of Web Audio's own mixing for speakers, and of ITU-R BS.775.

const LEFT = [1, 0], RIGHT = [0, 1], CENTRE = [Math.SQRT1_2, Math.SQRT1_2], BASS = [0, 0];
const SIDES = [[Math.SQRT1_2, 0], [0, Math.SQRT1_2]], BACK_CENTRE = [0.5, 0.5];
// How much of each plane goes left and right, by their number. Chromium gives planes in this order, whatever that of the stream.
// Four are AAC's, with one behind: Web Audio takes four for two in front and two behind
const WEIGHTS = {
  3: [LEFT, RIGHT, CENTRE],
  4: [LEFT, RIGHT, CENTRE, BACK_CENTRE],
  5: [LEFT, RIGHT, CENTRE, ...SIDES],
  6: [LEFT, RIGHT, CENTRE, BASS, ...SIDES],
  8: [LEFT, RIGHT, CENTRE, BASS, ...SIDES, ...SIDES],
};

/** Mixes planes of samples to two; one or two stay as they are. */
export function downmixed(planes) {
  const weights = WEIGHTS[planes.length];
  if (!weights) return planes.slice(0, 2);
  return [0, 1].map(side => {
    const mixed = new Float32Array(planes[0].length);
    for (const [number, plane] of planes.entries()) {
      const weight = weights[number][side];
      if (weight) for (let i = 0; i < mixed.length; i++) mixed[i] += weight * plane[i];
    }
    return mixed;
  });
}
