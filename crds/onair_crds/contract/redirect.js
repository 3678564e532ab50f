// Sends requests to end points that clients have built in to an installation of this service instead.
// What goes elsewhere is not touched. See docs/reference/studio.md.
(settings => {
  'use strict';
  const {hosts, base} = settings;
  const done = Symbol.for('onair.redirect');
  if (window[done]) return;
  window[done] = true;

  const script = document.currentScript?.src;
  const installation = new URL(script ? new URL('..', script) : base);
  const prefix = installation.pathname.replace(/\/$/, '');
  const plain = {'https:': 'http:', 'wss:': 'ws:', 'http:': 'http:', 'ws:': 'ws:'};
  const secure = {'http:': 'https:', 'ws:': 'wss:'};

  /** The address at the installation, or what was given. */
  function redirected(given) {
    let url;
    try {
      url = new URL(given, document.baseURI);
    } catch {
      return given;
    }
    const scheme = plain[url.protocol];
    if (!scheme || !hosts.includes(url.host)) return given;
    const protocol = installation.protocol === 'https:' ? secure[scheme] : scheme;
    return `${protocol}//${installation.host}${prefix}${url.pathname}${url.search}${url.hash}`;
  }

  /** A request as another one, with its body in one piece: a stream would need HTTP/2. */
  async function moved(request, to) {
    const {method, headers, mode, credentials, cache, redirect, referrer, referrerPolicy, integrity, keepalive, signal} = request;
    const body = request.body === null ? undefined : await request.arrayBuffer();
    return new Request(to, {
      method, headers, body, credentials, cache, redirect, referrer, referrerPolicy, integrity, keepalive, signal,
      mode: mode === 'navigate' ? 'cors' : mode,
    });
  }

  const {fetch: fetches, XMLHttpRequest: {prototype}, WebSocket: Socket} = window, {open} = prototype;

  window.fetch = function fetch(...given) {
    const [what, options] = given;
    if (!given.length) return fetches.apply(window, given);
    if (what instanceof Request) {
      const to = redirected(what.url);
      if (to === what.url) return fetches.apply(window, given);
      const whole = async () => fetches.call(window, await moved(new Request(what, options), to));
      return whole();
    }
    return fetches.call(window, redirected(what), options);
  };

  prototype.open = function (method, url, ...rest) {
    return open.call(this, method, redirected(url), ...rest);
  };

  window.WebSocket = class WebSocket extends Socket {
    constructor(url, ...protocols) {
      super(redirected(url), ...protocols);
    }
  };
})(SETTINGS);
