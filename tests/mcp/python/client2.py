"""python client2.py legacy|2026-07-28 key|oauth: the published client of the newest revision."""

import asyncio
import os
import sys

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult
from mcp.client.streamable_http import streamable_http_client

from app import Storage, provider
from walk import read_everything, walk


async def go(url, era, **means):
    async with httpx2.AsyncClient(timeout=30, **means) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=era) as client:

            async def list_tools():
                return [tool.name for tool in (await client.list_tools()).tools]

            async def call_tool(name, arguments):
                result = await client.call_tool(name, arguments)
                return result.is_error, result.content[0].text, result.structured_content

            async def list_resources():
                resources = (await client.list_resources()).resources
                templates = (await client.list_resource_templates()).resource_templates
                return [str(one.uri) for one in resources] + [one.uri_template for one in templates]

            async def read_resource(uri):
                return (await client.read_resource(uri)).contents[0].text

            async def list_prompts():
                return [prompt.name for prompt in (await client.list_prompts()).prompts]

            async def get_prompt(name, arguments):
                return (await client.get_prompt(name, arguments)).messages[0].content.text

            await read_everything(list_resources, read_resource, list_prompts, get_prompt)
            await walk(list_tools, call_tool)


async def main():
    url, (era, means) = os.environ["MCP_URL"], sys.argv[1:]
    if means == "key":
        await go(url, era, headers={"Authorization": f"Bearer {os.environ['API_KEY']}"})
    else:
        storage = Storage()

        def answer(back):
            return AuthorizationCodeResult(code=back["code"], state=back.get("state"), iss=back.get("iss"))

        await go(url, era, auth=provider(url, storage, answer))
        assert storage.tokens.access_token.startswith("mcp_at_")
    print(f"python 2 {era} {means}: passed")


asyncio.run(main())
