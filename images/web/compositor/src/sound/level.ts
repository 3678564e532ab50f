/** How loud something is. */

/** Two thirds of a second at 48 kHz. */
export const METER_SAMPLES = 32_768;
/** As quiet as a level gets: JSON has no infinity. */
export const SILENCE_DB = -100;

const samples = new Float32Array(METER_SAMPLES);

export function levelDb(meter: AnalyserNode): number {
  meter.getFloatTimeDomainData(samples);
  return rootMeanSquareDb(samples);
}

/** The level of samples in dBFS, full scale being a square wave. */
export function rootMeanSquareDb(values: Float32Array): number {
  let sum = 0;
  for (const value of values) sum += value * value;
  const db = 10 * Math.log10(sum / values.length);
  return db > SILENCE_DB ? Math.round(db * 10) / 10 : SILENCE_DB;
}
