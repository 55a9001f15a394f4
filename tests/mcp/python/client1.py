"""python client1.py key|oauth: the published client of the older revisions."""

import asyncio
import os
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from pydantic import AnyUrl

from app import Storage, provider
from walk import read_everything, walk


async def go(url, **means):
    async with streamablehttp_client(url, **means) as (read, write, _), ClientSession(read, write) as session:
        begun = await session.initialize()
        assert begun.protocolVersion == "2025-11-25", begun

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
    url, means = os.environ["MCP_URL"], sys.argv[1]
    if means == "key":
        await go(url, headers={"X-API-Key": os.environ["API_KEY"]})
    else:
        storage = Storage()
        await go(url, auth=provider(url, storage, lambda back: (back["code"], back.get("state"))))
        assert storage.tokens.access_token.startswith("mcp_at_")
    print(f"python 1 {means}: passed")


asyncio.run(main())
