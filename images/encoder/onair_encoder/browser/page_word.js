// Runs in each document before its own scripts: passes on what a page says of its readiness, see docs/reference/scenes.md.
(() => {
  'use strict';
  const report = window.onairReport;
  delete window.onairReport;
  if (typeof report !== 'function' || window !== window.top) return;
  const words = ['onair:loading', 'onair:ready'];
  const log = console.log;
  console.log = function (...said) {
    if (words.includes(said[0])) report(said[0]);
    return log.apply(console, said);
  };
  for (const word of words) window.addEventListener(word, () => report(word), true);
})();
