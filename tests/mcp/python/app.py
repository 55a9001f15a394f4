"""An in-memory OAuth client provider with the interface that both published clients require."""

import os

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata

from person import authorize

REDIRECT = "http://127.0.0.1:33418/callback"


class Storage:
    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def provider(url, storage, callback_result):
    """Returns an OAuth provider; `callback_result(query)` builds the result of the client's callback handler."""
    redirect_query = {}

    async def redirect(target):
        redirect_query.update(authorize(target, os.environ["EMAIL"], os.environ["PASSWORD"]))

    async def callback():
        return callback_result(redirect_query)

    metadata = OAuthClientMetadata(
        client_name="A published client",
        redirect_uris=[REDIRECT],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",
    )
    return OAuthClientProvider(url, metadata, storage, redirect, callback)


def expire(storage):
    """Replaces the access token with an invalid one, like after its expiry."""
    storage.tokens = storage.tokens.model_copy(update={"access_token": "mcp_at_" + "A" * 43})
