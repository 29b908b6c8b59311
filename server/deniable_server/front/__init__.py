"""What stands between the network and the application, so that no client can hold one of its threads.

Connections, heads and bodies are waited for by an event loop, where waiting costs next to nothing: each body has a size limit
and a deadline, and only once all of it is there does a thread take the request (`application.py`). The application is the
same Flask application that any WSGI server could run (`gateway.py`).
"""

from deniable_server.front.application import Front
from deniable_server.front.metrics_address import Scraped

__all__ = ["Front", "Scraped"]
