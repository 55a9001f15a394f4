"""python client2.py legacy|2026-07-28 key|oauth: calls every tool with the published client for the newest protocol revision."""

import asyncio
import os
import sys

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult
from mcp.client.streamable_http import streamable_http_client

from app import Storage, provider
from walk import read_everything, walk


async def run(url, era, **credentials):
    async with httpx2.AsyncClient(timeout=30, **credentials) as http:
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
    url, (era, mode) = os.environ["MCP_URL"], sys.argv[1:]
    if mode == "key":
        await run(url, era, headers={"Authorization": f"Bearer {os.environ['API_KEY']}"})
    else:
        storage = Storage()

        def callback_result(query):
            return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))

        await run(url, era, auth=provider(url, storage, callback_result))
        assert storage.tokens.access_token.startswith("mcp_at_")
    print(f"python 2 {era} {mode}: passed")


asyncio.run(main())
