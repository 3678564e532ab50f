// Runs in each document before its own scripts: its dialogs do not open, as they would be on air until they are closed.
(() => {
  'use strict';
  window.alert = function alert() {};
  window.confirm = function confirm() { return true; };
  window.prompt = function prompt() { return ''; };
})();
