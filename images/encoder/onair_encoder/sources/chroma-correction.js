// Gives frames of BT.709 the blue that browsers take from them.
//
// Without a GPU Chromium converts frames by libyuv, which keeps the weights of chroma in seven bits. BT.709's weight of blue
// does not fit, and is cut by 5 %. What is missing is put into the frame: its Cb is as much farther from gray. Green has a
// little of Cb, too: it is off by less than 1.5 of 255 then. A frame that is drawn small is halved in the same pass, see
// drawn-size.js: what is read, and written again, is done once.

import {evenHalvings, halved} from './drawn-size.js';

/** Of blue, of the most Cb a frame has, in steps of 255. */
const MOST_BLUE = 2.1124 * (240 - 128);
const LEAST = 0.01;          // what is less off is rounding
const MOST = 0.1;            // what is more off is something else
const CANVAS = 256;          // pixels: a smaller one is not drawn as videos are, where there is a GPU
const GRAY = 128;
const PLANAR = ['I420', 'I422', 'I444'];  // formats with a plane of Cb, in bytes

let ratio = null;

/** How much more blue than this browser's its frames have: 1 where it makes them as they are. */
function chromaRatio() {
  if (ratio === null) {
    const seen = blueOfBrowser();
    const wanted = MOST_BLUE / seen;
    ratio = wanted > 1 + LEAST && wanted < 1 + MOST ? wanted : 1;
  }
  return ratio;
}

function blueOfBrowser() {
  const colorSpace = {matrix: 'bt709', primaries: 'bt709', transfer: 'bt709', fullRange: false};
  const data = Uint8Array.of(16, 16, 16, 16, 240, 128);
  const frame = new VideoFrame(data, {format: 'I420', codedWidth: 2, codedHeight: 2, timestamp: 0, colorSpace});
  const context = new OffscreenCanvas(CANVAS, CANVAS).getContext('2d', {alpha: false});
  context.drawImage(frame, 0, 0);
  frame.close();
  return context.getImageData(0, 0, 1, 1).data[2];
}

/** One for each source: it keeps the memory of a frame. */
export class ChromaCorrection {
  constructor() {
    this._wider = Uint8Array.from({length: 256}, (_, cb) => Math.max(0, Math.min(255, Math.round(GRAY + (cb - GRAY) * chromaRatio()))));
    this._data = new Uint8Array(0);
    this._before = Promise.resolve();
  }

  /** Whether a frame looks otherwise in this browser than it should. */
  applies({format, colorSpace: {matrix, fullRange}, rotation, flip}) {
    const isPlain = PLANAR.includes(format) && !rotation && !flip;
    return isPlain && matrix === 'bt709' && fullRange !== true && chromaRatio() !== 1;
  }

  /**
   * What a frame has to be for this browser to show it as it is; the given one is closed, or it is that. In their order.
   * @param {number} [halvings] - how often its size may be halved; it is displayed as large as before.
   */
  corrected(frame, halvings = 0) {
    const corrected = this._before.then(() => this._correct(frame, halvings));
    this._before = corrected.catch(() => undefined);
    return corrected;
  }

  async _correct(frame, halvings) {
    const applies = this.applies(frame), times = evenHalvings(frame, halvings);
    if (!applies && !times) return frame;
    const {format, timestamp, duration, colorSpace, displayWidth, displayHeight} = frame;
    try {
      const given = frame.allocationSize();
      if (this._data.length !== given) this._data = new Uint8Array(given);
      const data = this._data, wider = this._wider, {width, height} = frame.visibleRect;
      const planes = await frame.copyTo(data);
      const {layout, codedWidth, codedHeight, size} = times ? halved(data, planes, {width, height}, times)
        : {layout: planes, codedWidth: width, codedHeight: height, size: given};
      if (applies) for (let at = layout[1].offset; at < layout[2].offset; at++) data[at] = wider[data[at]];
      const corrected = new VideoFrame(data.subarray(0, size), {format, codedWidth, codedHeight, displayWidth, displayHeight, timestamp, layout,
        colorSpace, ...duration !== null && {duration}});
      frame.close();
      return corrected;
    } catch {
      return frame;  // a little less blue is better than no picture
    }
  }
}
