"""The local environment: tools, images, a cluster, the demo, and what the documentation is made of."""
