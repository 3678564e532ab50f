"""Container images, the local registry, and the cluster that runs them."""
