// Knows how large pictures are drawn, and makes them smaller where that is half their size or less.
//
// Without a GPU Chromium converts and scales each picture with all its pixels, however small it is drawn. Halved before,
// by the mean of each four of them, it takes a fourth of that, and looks as scaled by the browser at its best.

const MOST_HALVINGS = 3;
const ROUNDED = 1.004;       // sizes are rounded to pixels
const WIDTH_OF_WORDS = 16;   // pixels: a plane of chroma is halved in words of four

/** The elements that draw a stream's pictures. */
export class DrawnSize {
  constructor() { this._elements = new Set(); }

  /** Counts an element; returns what ends that. */
  add(element) {
    this._elements.add(element);
    return () => { this._elements.delete(element); };
  }

  /**
   * How often pictures of a natural size may be halved for all elements that are displayed; 0 where none is. One that is turned
   * counts as large as its bounds, and one that has no size of its own as large as pictures are.
   * @param {{width: number, height: number}} natural - of the pictures.
   */
  halvings({width: wide, height: high}) {
    let largest = 0;
    for (const element of this._elements) {
      const {width, height} = element.getBoundingClientRect();
      if (width && height) largest = Math.max(largest, hasSize(element) ? Math.max(width / wide, height / high) : 1);
    }
    return largest ? Math.max(0, Math.min(MOST_HALVINGS, Math.floor(Math.log2(ROUNDED / largest)))) : 0;
  }
}

/** Whether how large an element is displayed is known: one of its pictures' size is of any size before the first. */
function hasSize({videoWidth, style}) {
  return videoWidth > 0 || !['', 'auto'].includes(style.width);
}

/** How often a frame can be halved evenly: it is planar, of eight bits, upright, and every plane has whole words in each row. */
export function evenHalvings({format, rotation, flip, visibleRect}, wanted) {
  if (format !== 'I420' || rotation || flip) return 0;
  let {width, height} = visibleRect, count = 0;
  while (count < wanted && width % WIDTH_OF_WORDS === 0 && height % 4 === 0) { width /= 2; height /= 2; count++; }
  return count;
}

/** Halves a frame of I420 in place. `layout` is that of its planes, as `copyTo` gives it; returns the new one and the size. */
export function halved(data, layout, {width, height}, times) {
  const words = new Uint32Array(data.buffer);
  for (; times > 0; times--) {
    let offset = 0;
    layout = layout.map((plane, number) => {
      const stride = width >> (number ? 2 : 1), rows = height >> (number ? 2 : 1), to = offset;
      halvePlane(words, plane, {offset: to, stride, rows});
      offset += stride * rows;
      return {offset: to, stride};
    });
    width /= 2;
    height /= 2;
  }
  return {layout, codedWidth: width, codedHeight: height, size: width * height * 3 / 2};
}

/** Two pixels beside each other are added in each half of a word, then those of the row below. */
function halvePlane(words, from, to) {
  const below = from.stride >> 2;
  let out = to.offset >> 2;
  for (let row = 0; row < to.rows; row++) {
    let at = (from.offset >> 2) + 2 * row * below;
    for (const end = out + (to.stride >> 2); out < end; out++, at += 2) {
      const left = mean(words[at], words[at + below]), right = mean(words[at + 1], words[at + below + 1]);
      words[out] = left | right << 16;
    }
  }
}

/** The two means of eight bytes, each of a square of four. */
function mean(above, below) {
  const sums = (above & 0xff00ff) + (above >>> 8 & 0xff00ff) + (below & 0xff00ff) + (below >>> 8 & 0xff00ff);
  const means = sums + 0x20002 >>> 2 & 0xff00ff;
  return (means | means >>> 8) & 0xffff;
}
