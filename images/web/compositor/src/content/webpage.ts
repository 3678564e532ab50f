/**
 * A web page in a frame of its own origin: it runs scripts, and can neither leave its box nor open anything. Without mode
 * `keep-loaded` it is there while its layout is on air and it is not hidden, and loaded again each time.
 */

import {Readiness, type Content, type ContentContext} from './content';
import {isWebUrl, reasonOf} from '../failure/reason';
import {Retry} from './retry';
import type {Layer} from '../state/layer';
import {textAt} from '../state/json';

const SANDBOX = 'allow-scripts allow-same-origin allow-forms';

export function webpage(layer: Layer, {layout, fail}: ContentContext): Content {
  const element = document.createElement('iframe'), ready = new Readiness(), retry = new Retry();
  element.setAttribute('sandbox', SANDBOX);
  Object.assign(element, {allow: 'autoplay', referrerPolicy: 'no-referrer', scrolling: 'no'});
  let now = layer, shown: string | null = null, onAir = false, hidden = false;

  const load = (url: string | null): void => {
    if (url === shown) return;
    shown = url;
    // A frame that is removed starts over with the next address, without a history
    element.src = url ?? 'about:blank';
    retry.end();
    if (url !== null) void look(url);
  };
  // Pages need not allow other origins; only servers that do not answer, or with an error, are reported
  const look = async (url: string, failed = false): Promise<void> => {
    const reason = await reasonOf(url, '', false);
    if (url !== shown) return;
    fail(reason === '' ? null : reason);
    if (reason !== '') retry.later(() => void look(url, true));
    else if (failed) element.src = url;
  };
  element.onload = () => {
    if (shown !== null) ready.resolve();
  };
  const decide = (): void => {
    const url = textAt(now.data, 'url');
    const refused = url === null ? 'it has no url' : refusal(url);
    const kept = textAt(now.data, 'mode') === 'keep-loaded';
    if (refused !== null) {
      fail(refused);
      load(null);
    } else if (kept || (onAir && !hidden)) load(url);
    else {
      // What was told was of another URL, or of its server
      fail(null);
      load(null);
    }
    if (shown === null) ready.resolve();
  };
  const lay = (): void => {
    element.style.width = now.width === null ? `${layout.width}px` : '100%';
    element.style.height = now.height === null ? `${layout.height}px` : '100%';
  };
  const update = (after: Layer): void => {
    now = after;
    lay();
    decide();
  };
  update(layer);
  return {
    element,
    ready: ready.promise,
    update,
    setOnAir(is) {
      onAir = is;
      decide();
    },
    setHidden(is) {
      hidden = is;
      decide();
    },
    close() {
      shown = null;
      retry.end();
      ready.resolve();
    },
  };
}

/** Why a URL is never loaded: a page of our own origin could take over the compositor. */
function refusal(url: string): string | null {
  if (!isWebUrl(url)) return 'the URL is not http or https';
  return new URL(url).origin === location.origin ? 'the URL is of the compositor itself' : null;
}
