"""HTTP front: an event loop between the network and the WSGI application, so that no slow client can hold a thread.

The event loop waits for connections, headers and bodies, where waiting costs little. Each body has a size limit and a deadline,
and a thread takes the request only when all of it has arrived (`application.py`). The application is the
same Flask application that any WSGI server could run (`gateway.py`).
"""

from deniable_server.front.application import Front
from deniable_server.front.metrics_address import Scraped

__all__ = ["Front", "Scraped"]
