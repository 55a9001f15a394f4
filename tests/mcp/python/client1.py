"""python client1.py key|oauth: calls every tool with the published client for older protocol revisions."""

import asyncio
import os
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from pydantic import AnyUrl

from app import Storage, provider
from walk import read_everything, walk


async def run(url, **credentials):
    async with streamablehttp_client(url, **credentials) as (read, write, _), ClientSession(read, write) as session:
        initialized = await session.initialize()
        assert initialized.protocolVersion == "2025-11-25", initialized

        async def list_tools():
            return [tool.name for tool in (await session.list_tools()).tools]

        async def call_tool(name, arguments):
            result = await session.call_tool(name, arguments)
            return result.isError, result.content[0].text, result.structuredContent

        async def list_resources():
            resources = (await session.list_resources()).resources
            templates = (await session.list_resource_templates()).resourceTemplates
            return [str(one.uri) for one in resources] + [one.uriTemplate for one in templates]

        async def read_resource(uri):
            return (await session.read_resource(AnyUrl(uri))).contents[0].text

        async def list_prompts():
            return [prompt.name for prompt in (await session.list_prompts()).prompts]

        async def get_prompt(name, arguments):
            return (await session.get_prompt(name, arguments)).messages[0].content.text

        await read_everything(list_resources, read_resource, list_prompts, get_prompt)
        await walk(list_tools, call_tool)


async def main():
    url, mode = os.environ["MCP_URL"], sys.argv[1]
    if mode == "key":
        await run(url, headers={"X-API-Key": os.environ["API_KEY"]})
    else:
        storage = Storage()
        await run(url, auth=provider(url, storage, lambda query: (query["code"], query.get("state"))))
        assert storage.tokens.access_token.startswith("mcp_at_")
    print(f"python 1 {mode}: passed")


asyncio.run(main())
