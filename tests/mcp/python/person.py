"""A person before a browser without JavaScript: signs in, lets the app in, and ends where the app waits."""

import html.parser
import http.cookiejar
import urllib.error
import urllib.parse
import urllib.request


class Form(html.parser.HTMLParser):
    """The fields of a page's form, as they would be sent if nothing was changed."""

    def __init__(self, text):
        super().__init__()
        self.fields, self.action = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "form":
            self.action = given.get("action") or ""
        is_left_out = given.get("type") == "submit" or (given.get("type") == "checkbox" and "checked" not in given)
        if tag == "input" and given.get("name") and not is_left_out:
            self.fields.append((given["name"], given.get("value") or ""))


class Still(urllib.request.HTTPRedirectHandler):
    """Follows nothing by itself."""

    def redirect_request(self, *_):
        return None


def let_in(url, email, password):
    """Goes where the app sends the person, and returns the query with which they are sent back."""
    origin = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(url))
    opener = urllib.request.build_opener(Still, urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def go(target, fields=None):
        body = urllib.parse.urlencode(fields).encode() if fields else None
        headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"} if fields else {}
        try:
            return opener.open(urllib.request.Request(target, body, headers))
        except urllib.error.HTTPError as answer:
            return answer

    at, answer = url, go(url)
    for _ in range(8):
        location = answer.headers.get("Location")
        if location:
            at = urllib.parse.urljoin(at, location)
            if not at.startswith(origin + "/"):
                return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(at).query))
            answer = go(at)
            continue
        text = answer.read().decode()
        form = Form(text)
        fields = dict(form.fields) if any(name == "password" for name, _ in form.fields) else list(form.fields)
        if isinstance(fields, dict):
            fields = [*(fields | {"email": email, "password": password}).items()]
        else:
            assert 'value="allow"' in text, text
            fields.append(("decision", "allow"))
        at = urllib.parse.urljoin(at, form.action or at)
        answer = go(at, fields)
    raise AssertionError("the person never came back")
