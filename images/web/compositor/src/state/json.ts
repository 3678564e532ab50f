/** Reads values out of JSON that somebody else wrote: what is of another type, or out of bounds, is the default. */

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject { readonly [name: string]: Json | undefined }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path of names, undefined where there is none. */
export function at(value: unknown, ...names: string[]): unknown {
  let found: unknown = value;
  for (const name of names) {
    if (!isObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

export function textAt(value: unknown, ...names: string[]): string | null {
  const found = at(value, ...names);
  return typeof found === 'string' && found !== '' ? found : null;
}

export function array(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A number within bounds; numbers in text count, as 64-bit ones are sent so. */
export function number(value: unknown, least: number, most: number, otherwise: number): number {
  const found = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof found !== 'number' || Number.isNaN(found)) return otherwise;
  return Math.min(most, Math.max(least, found));
}

/** The same, where nothing is a value. */
export function numberOrNull(value: unknown, least: number, most: number): number | null {
  const found = number(value, least, most, NaN);
  return Number.isNaN(found) ? null : found;
}
