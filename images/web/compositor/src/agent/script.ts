/** Scripts that the agent serves for every page. */

/** Loads one by its name, once; after a failure the next call loads it again. */
export function agentScript<Script>(name: string): Promise<Script> {
  return import(new URL(`/sources/${name}`, location.href).href) as Promise<Script>;
}
