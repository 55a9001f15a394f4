"""python client1.py key|oauth: the published client of the older revisions."""

import asyncio
import os
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

from app import Storage, provider
from walk import walk


async def go(url, **means):
    async with streamablehttp_client(url, **means) as (read, write, _), ClientSession(read, write) as session:
        begun = await session.initialize()
        assert begun.protocolVersion == "2025-11-25", begun

        async def list_tools():
            return [tool.name for tool in (await session.list_tools()).tools]

        async def call_tool(name, arguments):
            result = await session.call_tool(name, arguments)
            return result.isError, result.content[0].text, result.structuredContent

        await walk(list_tools, call_tool)


async def main():
    url, means = os.environ["MCP_URL"], sys.argv[1]
    if means == "key":
        await go(url, headers={"X-API-Key": os.environ["API_KEY"]})
    else:
        storage = Storage()
        await go(url, auth=provider(url, storage, lambda back: (back["code"], back.get("state"))))
        assert storage.tokens.access_token.startswith("mcp_at_")
    print(f"python 1 {means}: passed")


asyncio.run(main())
