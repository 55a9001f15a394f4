"""An app's side of OAuth, as both published clients ask for it, all in memory."""

import os

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientMetadata

from person import let_in

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


def provider(url, storage, answer):
    """`answer(query)` makes what the client's callback handler has to give."""
    back = {}

    async def redirect(target):
        back.update(let_in(target, os.environ["EMAIL"], os.environ["PASSWORD"]))

    async def callback():
        return answer(back)

    metadata = OAuthClientMetadata(
        client_name="A published client",
        redirect_uris=[REDIRECT],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",
    )
    return OAuthClientProvider(url, metadata, storage, redirect, callback)


def expire(storage):
    """An hour later: the access token is worth nothing any more."""
    storage.tokens = storage.tokens.model_copy(update={"access_token": "mcp_at_" + "A" * 43})
