"""Programs that no package manager provides: built once from their modules into the cache."""
