"""What our HTTP client is set to, beside what a request holds."""

from __future__ import annotations

import httpx

from memoranda.sdk._pool import client_arguments
from memoranda.sdk._settings import HttpSettings


def client() -> httpx.Client:
    return httpx.Client(**client_arguments(HttpSettings("http://127.0.0.1:1", None, None)))


def test_each_phase_of_a_request_has_thirty_seconds() -> None:
    with client() as http:
        assert http.timeout == httpx.Timeout(connect=30, read=30, write=30, pool=30)


def test_redirects_are_not_followed_and_settings_of_the_machine_hold() -> None:
    with client() as http:
        assert not http.follow_redirects
        assert http.trust_env  # HTTPS_PROXY, SSL_CERT_FILE
