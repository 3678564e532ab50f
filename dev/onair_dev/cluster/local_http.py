"""HTTP requests to ports of this machine, which a proxy that the environment names cannot reach."""

import urllib.request

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
