"""A simulated user in a browser without JavaScript: signs in, allows the app and follows the redirect to the app."""

import html.parser
import http.cookiejar
import urllib.error
import urllib.parse
import urllib.request


class Form(html.parser.HTMLParser):
    """The default fields and the action of a page's form."""

    def __init__(self, text):
        super().__init__()
        self.fields, self.action = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "form":
            self.action = given.get("action") or ""
        is_omitted = given.get("type") == "submit" or (given.get("type") == "checkbox" and "checked" not in given)
        if tag == "input" and given.get("name") and not is_omitted:
            self.fields.append((given["name"], given.get("value") or ""))


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Does not follow redirects."""

    def redirect_request(self, *_):
        return None


def authorize(url, email, password):
    """Opens the authorization address of an app and returns the query of the redirect to the app."""
    origin = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(url))
    opener = urllib.request.build_opener(NoRedirects, urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def go(target, fields=None):
        body = urllib.parse.urlencode(fields).encode() if fields else None
        headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"} if fields else {}
        try:
            return opener.open(urllib.request.Request(target, body, headers))
        except urllib.error.HTTPError as response:
            return response

    at, response = url, go(url)
    for _ in range(8):
        location = response.headers.get("Location")
        if location:
            at = urllib.parse.urljoin(at, location)
            if not at.startswith(origin + "/"):
                return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(at).query))
            response = go(at)
            continue
        text = response.read().decode()
        form = Form(text)
        fields = dict(form.fields) if any(name == "password" for name, _ in form.fields) else list(form.fields)
        if isinstance(fields, dict):
            fields = [*(fields | {"email": email, "password": password}).items()]
        else:
            assert 'value="allow"' in text, text
            fields.append(("decision", "allow"))
        at = urllib.parse.urljoin(at, form.action or at)
        response = go(at, fields)
    raise AssertionError("no redirect to the app after 8 steps")
