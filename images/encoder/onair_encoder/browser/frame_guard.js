// Runs in each document before its own scripts, see docs/decisions/0052.
//
// Where a frame has once missed its deadline, what a page paints is drawn a frame or two late from then on, for as
// long as it requests every frame. A frame that is not requested ends that: one frame of delay each.
(() => {
  'use strict';
  const FRAME_MS = 1000 / 60;
  const FRAMES_BEHIND = 2;
  const CALM_FRAMES = 10;
  // What is slow in painting is not seen from here, so frames are skipped again: soon at first, then rarely
  const FIRST_REST_MS = 500, LONGEST_REST_MS = 20000;
  const request = window.requestAnimationFrame.bind(window);
  const cancel = window.cancelAnimationFrame.bind(window);
  const later = window.setTimeout.bind(window);
  const held = new Map();
  let handles = 2 ** 31;
  let holding = false, frameAt = null, calm = 0;
  let skips = FRAMES_BEHIND, restMs = FIRST_REST_MS, restUntil = 0;

  function skip() {
    holding = true;
    calm = 0;
    skips -= 1;
    later(() => {
      holding = false;
      frameAt = null;
      for (const each of held.values()) each.native = request(each.callback);
    }, 1.5 * FRAME_MS);
  }

  function frame(at) {
    if (at === frameAt) return;
    const now = performance.now();
    const first = frameAt === null;
    const late = at - frameAt > 1.5 * FRAME_MS || now - at > 0.5 * FRAME_MS;
    frameAt = at;
    if (first) return;
    if (late) {
      calm = 0;
      skips = FRAMES_BEHIND;
      restMs = FIRST_REST_MS;
    } else if (++calm >= CALM_FRAMES && now >= restUntil) {
      skip();
      if (skips === 0) {
        skips = FRAMES_BEHIND;
        restUntil = now + restMs;
        restMs = Math.min(restMs * 2, LONGEST_REST_MS);
      }
    }
  }

  window.requestAnimationFrame = function requestAnimationFrame(callback) {
    if (typeof callback !== 'function') return request(callback);
    if (!holding) return request(at => { frame(at); callback(at); });
    const handle = handles++;
    held.set(handle, {native: null, callback: at => { held.delete(handle); frame(at); callback(at); }});
    return handle;
  };
  window.cancelAnimationFrame = function cancelAnimationFrame(handle) {
    const each = held.get(handle);
    if (!each) return cancel(handle);
    held.delete(handle);
    if (each.native !== null) cancel(each.native);
  };
})();
