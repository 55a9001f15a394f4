"""An SMTP server for tests, based on aiosmtpd. The recipient's address selects its behaviour, and it reports received messages.

Options: --security none|starttls|implicit, --certificate FILE, --key FILE, --user U --password P, --utf8.
Prints JSON lines: first {"port": ...}, then one line per accepted message and one per other event.
Behaviour by mailbox: refused@ 550, greylisted@ 451, closing@ 421, hangs@ sends no response, cut@ closes the connection,
full@ 552 after the message, last@ accepts the message and closes the connection, mute@ accepts it without a response.
The server exits when its standard input closes.
"""

import argparse
import asyncio
import email
import email.policy
import email.utils
import json
import os
import ssl
import sys
import threading
from email.header import decode_header, make_header
from html.parser import HTMLParser

from aiosmtpd.smtp import SMTP, AuthResult


def encodable(value):
    """Replaces lone surrogates, with which the parser represents bytes beyond ASCII and which JSON cannot encode."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if isinstance(value, list):
        return [encodable(item) for item in value]
    return value


def report(**fields):
    print(json.dumps({name: encodable(value) for name, value in fields.items()}), flush=True)


def recipients(raw):
    """Returns names and addresses. Uses the older parser, because the newer one keeps a space between encoded words of a name."""
    lines = email.message_from_bytes(raw, policy=email.policy.compat32).get_all("To")
    pairs = email.utils.getaddresses([str(line) for line in lines])
    return [[str(make_header(decode_header(name))), address] for name, address in pairs]


class Page(HTMLParser):
    """The visible text, elements, attributes and links of an HTML body."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.elements, self.attributes, self.links, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += [name for name, _ in attrs]
        self.links += [value for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data):
        self.text.append(data)


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, rcpt_options):
        mailbox = address.split("@")[0]
        response = {
            "refused": "550 5.1.1 No such mailbox here",
            "greylisted": "451 4.7.1 Greylisted, come back later",
            "closing": "421 4.3.2 Closing for maintenance",
        }.get(mailbox)
        if response:
            return response
        if mailbox == "hangs":
            report(event="hangs")
            await asyncio.sleep(3600)
        if mailbox == "cut":
            server.transport.abort()
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if any(to.startswith("full@") for to in envelope.rcpt_tos):
            return "552 5.2.2 Mailbox full"
        raw = envelope.original_content
        message = email.message_from_bytes(raw, policy=email.policy.default)
        text, html = (message.get_body((kind,)) for kind in ("plain", "html"))
        page = Page()
        page.feed(html.get_content())
        page.close()
        report(
            event="message",
            peer=session.peer[1],
            hello=session.host_name,
            secure=server.transport.get_extra_info("ssl_object") is not None,
            user=str(session.auth_data or ""),
            sender=envelope.mail_from,
            recipients=envelope.rcpt_tos,
            raw=raw.decode("utf-8", "replace"),
            longest_line=max(len(line) for line in raw.splitlines()),
            headers=[[name, str(value)] for name, value in message.items()],
            to=recipients(raw),
            defects=[repr(d) for part in message.walk() for d in part.defects]
            + [repr(d) for value in message.values() for d in value.defects],
            types=[part.get_content_type() for part in message.walk()],
            text=text.get_content().replace("\r\n", "\n"),
            html=html.get_content().replace("\r\n", "\n"),
            html_text="".join(page.text),
            elements=page.elements,
            attributes=page.attributes,
            links=page.links,
        )
        if any(to.startswith("mute@") for to in envelope.rcpt_tos):
            await asyncio.sleep(3600)
        if any(to.startswith("last@") for to in envelope.rcpt_tos):
            def close():
                server.transport.close()
                report(event="closed")

            # After the response has been sent.
            asyncio.get_running_loop().call_later(0.05, close)
        return "250 2.0.0 OK queued as 4bYhX2"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--security", default="none")
    options.add_argument("--certificate")
    options.add_argument("--key")
    options.add_argument("--user")
    options.add_argument("--password")
    options.add_argument("--utf8", action="store_true")
    options = options.parse_args()

    context = None
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate, options.key)

    def authenticate(server, session, envelope, mechanism, data):
        known = (options.user.encode(), options.password.encode())
        good = (data.login, data.password) == known
        return AuthResult(success=good, handled=False, auth_data=data.login.decode())

    def smtp():
        return SMTP(
            Handler(),
            hostname="mail.test",
            enable_SMTPUTF8=options.utf8,
            tls_context=context if options.security == "starttls" else None,
            require_starttls=options.security == "starttls",
            authenticator=authenticate if options.user else None,
            auth_required=bool(options.user),
            auth_require_tls=False,
        )

    async def serve():
        implicit_tls = context if options.security == "implicit" else None
        server = await asyncio.get_running_loop().create_server(smtp, "127.0.0.1", 0, ssl=implicit_tls)
        report(port=server.sockets[0].getsockname()[1])
        await server.serve_forever()

    def end_with_input():
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=end_with_input, daemon=True).start()
    asyncio.run(serve())


main()
