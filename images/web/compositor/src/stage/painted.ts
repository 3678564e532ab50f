/** When the page is on the screen: before its first paint the browser's window is blank, and white. */

import {after, nextFrame} from './waiting';

/** A page that nobody sees paints nothing. */
const LONGEST_MS = 1000;

/** Resolved once what is drawn now has been handed to the screen, in a window that is not blank any more. */
export async function painted(): Promise<void> {
  await Promise.race([drawn(), after(LONGEST_MS)]);
}

async function drawn(): Promise<void> {
  await firstPaint();
  // One frame takes what is drawn now, the next begins after it was handed on
  await nextFrame();
  await nextFrame();
}

function firstPaint(): Promise<void> {
  return new Promise(resolve => {
    new PerformanceObserver((_, observer) => {
      observer.disconnect();
      resolve();
    }).observe({type: 'paint', buffered: true});
  });
}
