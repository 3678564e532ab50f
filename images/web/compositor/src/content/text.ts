/** Text, never markup. In a box of a given size it shrinks until it fits. */

import {AT_ONCE, type Content} from './content';
import type {Layer} from '../state/layer';
import {at, isObject} from '../state/json';

/** Properties of `style` that are taken, as CSS names them in scripts. */
export const STYLES = [
  'backgroundColor', 'borderRadius', 'color', 'direction', 'fontFamily', 'fontSize', 'fontStyle', 'fontVariant', 'fontWeight',
  'letterSpacing', 'lineHeight', 'padding', 'textAlign', 'textDecoration', 'textShadow', 'textTransform', 'verticalAlign',
  'whiteSpace', 'wordSpacing',
] as const;
const PIXELS: ReadonlySet<string> = new Set(['borderRadius', 'fontSize', 'letterSpacing', 'padding', 'wordSpacing']);
const LONGEST = 10_000;
const WORDS = 'font: 32px sans-serif; color: #fff; white-space: pre-wrap; overflow-wrap: break-word; width: 100%; box-sizing: border-box; flex: none';
const STEPS = 12, LEAST = 0.05;
const ACROSS: Record<string, string> = {top: 'flex-start', middle: 'center', bottom: 'flex-end'};

export function text(layer: Layer): Content {
  const element = document.createElement('div'), words = document.createElement('div');
  element.append(words);
  let now = layer;
  const lay = (): void => {
    words.textContent = wordsOf(now).slice(0, LONGEST);
    element.style.cssText = 'display: flex; flex-direction: column; box-sizing: border-box; overflow: hidden';
    words.style.cssText = WORDS;
    element.style.width = now.width === null ? 'max-content' : '100%';
    element.style.height = now.height === null ? 'auto' : '100%';
    style(element, words, at(now.data, 'style'));
    if (now.width !== null && now.height !== null) shrink(element, words);
  };
  // Once it is in the page, and when its box is animated
  const sizes = new ResizeObserver(lay);
  sizes.observe(element);
  void document.fonts.ready.then(lay);
  return {
    element,
    ready: AT_ONCE,
    update(after) {
      now = after;
      lay();
    },
    close: () => sizes.disconnect(),
  };
}

function wordsOf(layer: Layer): string {
  const value = at(layer.data, 'text');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function style(element: HTMLElement, words: HTMLElement, wanted: unknown): void {
  if (!isObject(wanted)) return;
  for (const name of STYLES) {
    const value = wanted[name];
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    const css = typeof value === 'number' && PIXELS.has(name) ? `${value}px` : String(value);
    if (/url\s*\(/i.test(css)) continue;
    if (name === 'verticalAlign') element.style.justifyContent = ACROSS[css] ?? '';
    else if (name === 'backgroundColor' || name === 'borderRadius') element.style[name] = css;
    else words.style[name] = css;
  }
}

/** Finds the largest letters with which the words fit, as a part of those that were given. */
function shrink(element: HTMLElement, words: HTMLElement): void {
  const whole = parseFloat(getComputedStyle(words).fontSize) || 32;
  const fits = (part: number): boolean => {
    words.style.fontSize = `${whole * part}px`;
    return words.scrollWidth <= element.clientWidth && words.offsetHeight <= element.clientHeight;
  };
  if (fits(1)) return;
  let small = LEAST, large = 1;
  for (let step = 0; step < STEPS; step++) {
    const middle = (small + large) / 2;
    if (fits(middle)) small = middle;
    else large = middle;
  }
  fits(small);
}
