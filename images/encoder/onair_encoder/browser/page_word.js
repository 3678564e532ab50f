// Runs in each document before its own scripts: keeps what a page says of itself, see docs/reference/scenes.md,
// and the browser's own promise of a frame, whatever the page puts in its place.
(() => {
  'use strict';
  const kept = new Map([
    ['onair:loading', 'onair.word'], ['onair:ready', 'onair.word'],
    ['onair:time-based', 'onair.motion'], ['onair:frame-based', 'onair.motion'],
  ].map(([word, of]) => [word, Symbol.for(of)]));
  const keep = word => { window[kept.get(word)] = word; };
  const log = console.log;
  console.log = function (...said) {
    if (kept.has(said[0])) keep(said[0]);
    return log.apply(console, said);
  };
  const frame = window.requestAnimationFrame.bind(window), Promised = Promise;
  window[Symbol.for('onair.frame')] = () => new Promised(done => frame(done));
  for (const word of kept.keys()) window.addEventListener(word, () => keep(word), true);
})();
