"""Programs that no package manager brings: built once from their modules, kept in the cache."""
