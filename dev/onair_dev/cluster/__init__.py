"""The container engine, our images, and the cluster that they run in."""
