/** Scripts that the agent serves for every page. */

const failures = new Map<string, number>();

/** Loads one by its name, once; after a failure the next call loads it again. */
export async function agentScript<Script>(name: string): Promise<Script> {
  const url = new URL(`/sources/${name}`, location.href), failed = failures.get(name) ?? 0;
  // A browser keeps a module that it could not load as failed, under its URL
  if (failed) url.searchParams.set('attempt', String(failed));
  try {
    return await import(url.href) as Script;
  } catch (error) {
    failures.set(name, failed + 1);
    throw error;
  }
}
