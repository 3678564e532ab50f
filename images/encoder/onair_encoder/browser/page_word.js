// Runs in each document before its own scripts: keeps what a page says of its readiness, see docs/reference/scenes.md.
(() => {
  'use strict';
  const words = ['onair:loading', 'onair:ready'];
  const kept = Symbol.for('onair.word');
  const keep = word => { window[kept] = word; };
  const log = console.log;
  console.log = function (...said) {
    if (words.includes(said[0])) keep(said[0]);
    return log.apply(console, said);
  };
  for (const word of words) window.addEventListener(word, () => keep(word), true);
})();
