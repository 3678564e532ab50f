/** Why something at a URL cannot be shown; an element only says that it cannot. */

const TIMEOUT_MS = 5000;

/**
 * @param bad - what to say where the server gave it, but it could not be shown.
 * @param needsCors - whether it can be shown only where its server allows other origins.
 */
export async function reasonOf(url: string, bad: string, needsCors = true): Promise<string> {
  if (!isWebUrl(url)) return 'the URL is not http or https';
  const ending = new AbortController(), late = setTimeout(() => ending.abort(), TIMEOUT_MS);
  // Through the cache it would wait for a request before it that hangs
  const request = (mode: RequestMode): Promise<Response> =>
    fetch(url, {mode, cache: 'no-store', credentials: 'omit', signal: ending.signal, headers: {Range: 'bytes=0-0'}});
  try {
    const response = await request('cors');
    return response.ok ? bad : `HTTP ${response.status}`;
  } catch {
    try {
      await request('no-cors');
      return needsCors ? 'its server allows no other origins (CORS)' : bad;
    } catch {
      return 'its server is unreachable';
    }
  } finally {
    // Whatever is still on its way
    clearTimeout(late);
    ending.abort();
  }
}

export function isWebUrl(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
