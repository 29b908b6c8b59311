"""Delivery of webhook messages by the Standard Webhooks specification: signed, retried, and never into a private network.

A survey's owner chooses the address, but the server sends the request, perhaps from behind a firewall (SSRF).
So the name is resolved once, the result must be public, and the connection uses exactly the resolved address.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import logging
import socket
from collections.abc import Callable
from datetime import datetime
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import httpx

from deniable_server.operate import logs
from deniable_server.store.protocol import Store
from deniable_server.store.webhooks import Message

SECONDS = 5.0  # for a whole attempt: the name, the connection, the request, the head of the reply
AGAIN = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)  # seconds after each failed attempt; then the message is dropped
PORTS = (80, 443)
"""The allowed ports; others belong to services that accept no webhooks, such as mail and databases."""

_NAT64 = IPv6Network("64:ff9b::/96")
_UNICAST = IPv6Network("2000::/3")  # the only part of the IPv6 internet that is allocated; Python calls more of it global
_TEREDO = IPv6Network("2001::/32")
_ISATAP = (0x00005EFE, 0x02005EFE)  # the middle of an address that ends with one of IPv4
_PLATFORM = (IPv4Network("168.63.129.16/32"), IPv4Network("192.88.99.0/24"))  # Azure's own, which its machines alone reach; relays of 6to4

Post = Callable[[str, bytes, dict[str, str]], int]
"""Sends a body with headers to an address. Returns the reply's status; 0 without a reply."""

logger = logging.getLogger(logs.OWN)


def send_due(store: Store, post: Post, now: Callable[[], datetime]) -> float:
    """Sends the messages that are due. Returns the seconds until the next one is. Raises what the store raises."""
    for message in store.webhooks.waiting():
        moment = now()
        if message.due <= moment.timestamp():
            _send(store, post, message, moment)
    left = [message.due for message in store.webhooks.waiting()]
    return max(0.0, min(left) - now().timestamp()) if left else float("inf")


def _send(store: Store, post: Post, message: Message, moment: datetime) -> None:
    last = message.tries >= len(AGAIN)
    at = int(moment.timestamp())
    wait = AGAIN[min(message.tries, len(AGAIN) - 1)]
    if not store.webhooks.attempt(message, at + wait):
        return
    webhook = next((each for each, _ in store.webhooks.all() if each.id == message.webhook), None)
    secret = store.webhooks.secret(message.webhook)
    if webhook is None or secret is None:
        return  # the webhook was removed, with its messages
    body = message.body.encode()
    status = post(webhook.url, body, headers(secret, message.id, at, body))
    store.webhooks.settle(message, arrived=200 <= status < 300, last=last, day=moment.date().isoformat())
    if last and not 200 <= status < 300:
        logger.warning("a message to the webhook %s of %s was dropped after the last attempt", webhook.id, webhook.survey)


def headers(secret: bytes, message_id: str, at: int, body: bytes) -> dict[str, str]:
    """Returns the headers with a message's id, its time in Unix seconds, and its signature."""
    signed = hmac.new(secret, f"{message_id}.{at}.".encode() + body, hashlib.sha256).digest()
    signature = f"v1,{base64.b64encode(signed).decode()}"
    return {
        "Content-Type": "application/json",
        "User-Agent": "deniable",
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": signature,
    }


def posting(private: bool) -> Post:
    """Returns a function that sends over the network; with `private`, also to addresses that are not public."""

    def post(url: str, body: bytes, headers_sent: dict[str, str]) -> int:
        try:
            return asyncio.run(_post(url, body, headers_sent, private))
        except Exception:  # whatever an address does, the server's other tasks must not fail
            return 0

    return post


async def _post(url: str, body: bytes, headers_sent: dict[str, str], private: bool) -> int:
    """Sends a message. Raises ValueError for an address that is not public; OSError, TimeoutError, httpx.HTTPError."""
    named = httpx.URL(url)
    async with asyncio.timeout(SECONDS):
        port = named.port or (443 if named.scheme == "https" else 80)
        infos = await asyncio.get_running_loop().getaddrinfo(named.host, port, type=socket.SOCK_STREAM)
        addresses = [str(info[4][0]) for info in infos]
        if not private and not all(is_public(address) for address in addresses):
            raise ValueError("the address of a webhook must be public")
        if not private and (port not in PORTS or any(map(is_own, addresses))):
            raise ValueError("the address of a webhook must be another machine's, at port 80 or 443")
        async with httpx.AsyncClient(timeout=SECONDS, follow_redirects=False, trust_env=False) as client:
            request = client.build_request(
                "POST",
                named.copy_with(host=addresses[0]),
                content=body,
                headers={**headers_sent, "Host": named.netloc.decode("ascii")},
                extensions={"sni_hostname": named.host},
            )
            response = await client.send(request, stream=True)  # the body of the reply is not read
            await response.aclose()
            return response.status_code


def is_public(address: str) -> bool:
    """Returns whether an IP address is on the public internet: not of this machine, private, link-local, multicast or reserved.

    For IPv6, that is global unicast, without addresses that embed an IPv4 address that is not public.
    """
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv4Address):
        return ip.is_global and not ip.is_multicast and not any(ip in network for network in _PLATFORM)
    inner = _embedded(ip)
    if inner is not None and not is_public(str(inner)):
        return False
    if ip in _NAT64 or ip.ipv4_mapped:
        return True
    return ip in _UNICAST and ip not in _TEREDO and ip.is_global and not ip.is_multicast


def is_own(address: str) -> bool:
    """Returns whether this machine has an IP address: only its own can be bound. Its firewall does not filter requests to itself."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as own:
            own.bind((address, 0))
    except OSError:
        return False
    return True


def _embedded(ip: IPv6Address) -> IPv4Address | None:
    """Returns the IPv4 address that an IPv6 address embeds, or None."""
    last = IPv4Address(int(ip) & 0xFFFFFFFF)
    if ip in _NAT64 or (int(ip) >> 32) & 0xFFFFFFFF in _ISATAP:
        return last
    return ip.ipv4_mapped or ip.sixtofour
