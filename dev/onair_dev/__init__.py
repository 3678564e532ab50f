"""The local environment: tools, images, a cluster, the demo, and generated documentation."""
