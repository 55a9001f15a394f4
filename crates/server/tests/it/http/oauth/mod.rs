//! OAuth, from the view of clients and browsers.

mod clients;
mod consent;
mod discovery;
mod refresh;
mod requests;
mod revocation;
mod sign_in;
mod tokens;

use std::collections::HashMap;

use foundation::Actor;
use serde_json::{Value, json};
use url::{Url, form_urlencoded};

use crate::http::identity::{ANN, start_server};
use crate::http::test_server::{TestResponse, TestServer};

/// The example of RFC 7636, appendix B.
pub(super) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub(super) const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
pub(super) const CALLBACK: &str = "https://app.example.com/callback";
pub(super) const ISSUER: &str = "https://alerts.example.com";
pub(super) const RESOURCE: &str = "https://alerts.example.com/mcp";
pub(super) const ALL: [&str; 4] = ["alerts:read", "alerts:write", "watchlist:read", "watchlist:write"];
pub(super) const FROM_HERE: (&str, &str) = ("sec-fetch-site", "same-origin");

pub(super) fn form(pairs: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish()
}

/// Returns the pairs with changes applied. An empty value removes the pair.
pub(super) fn with<'a>(pairs: &[(&'a str, &'a str)], change: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut all: Vec<_> = pairs.to_vec();
    all.retain(|(name, _)| change.iter().all(|(changed, _)| changed != name));
    all.extend(change.iter().filter(|(_, value)| !value.is_empty()));
    all
}

/// Returns the query parameters of a redirect to the callback.
#[track_caller]
pub(super) fn redirect_params(response: &TestResponse, callback: &str) -> HashMap<String, String> {
    assert!(matches!(response.status, 302 | 303), "{response:?}");
    let location = response.header("location");
    assert!(location.starts_with(callback), "{location}");
    assert_eq!(response.header("cache-control"), "no-store");
    assert_eq!(response.header("referrer-policy"), "no-referrer");
    let pairs = Url::parse(location).unwrap();
    let all: Vec<_> = pairs.query_pairs().into_owned().collect();
    let redirect: HashMap<_, _> = all.iter().cloned().collect();
    assert_eq!(redirect.len(), all.len(), "duplicate parameters: {location}");
    assert_eq!(redirect["iss"], ISSUER);
    redirect
}

/// Asserts an error page without a redirect.
#[track_caller]
pub(super) fn assert_error_page(response: &TestResponse, status: u16, text: &str) {
    assert_eq!(response.status, status, "{response:?}");
    assert!(response.headers.get("location").is_none(), "{response:?}");
    assert_eq!(response.header("content-type"), "text/html; charset=utf-8");
    assert!(response.text.contains(text), "{text:?} is not in {}", response.text);
}

/// Asserts an OAuth error response.
#[track_caller]
pub(super) fn assert_oauth_error(response: &TestResponse, status: u16, error: &str) {
    assert_eq!(
        (response.status, &response.body["error"]),
        (status, &json!(error)),
        "{response:?}"
    );
    assert_eq!(response.header("cache-control"), "no-store");
    assert_eq!(response.header("content-type"), "application/json");
    assert_eq!(response.header("access-control-allow-origin"), "*");
    let description = response.body["error_description"].as_str().unwrap();
    assert!(
        !description.is_empty() && !description.contains(['"', '\\']),
        "{description}"
    );
    assert!(response.body.get("success").is_none(), "must not have the API envelope");
}

/// Returns the value of a hidden field of a page's form.
#[track_caller]
pub(super) fn hidden(page: &TestResponse, name: &str) -> String {
    let begin = format!("name=\"{name}\" value=\"");
    let (_, rest) = page
        .text
        .split_once(&begin)
        .unwrap_or_else(|| panic!("no {name}: {}", page.text));
    rest.split('"').next().unwrap().to_owned()
}

/// A registered client and a signed-in user.
pub(crate) struct OAuthFixture {
    pub(super) client: String,
    /// The session cookie.
    pub(super) cookie: String,
    pub(crate) access: String,
}

impl OAuthFixture {
    pub(crate) async fn on(server: &TestServer) -> Self {
        server.confirmed(ANN).await;
        let ann = server.signed_in(ANN).await;
        Self {
            client: server.registered(&[CALLBACK]).await,
            cookie: ann.cookie,
            access: ann.access,
        }
    }

    pub(super) fn params(&self) -> Vec<(&str, &str)> {
        vec![
            ("response_type", "code"),
            ("client_id", &self.client),
            ("redirect_uri", CALLBACK),
            ("state", "a&b=%c d"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
            ("resource", RESOURCE),
        ]
    }

    /// Sends an authorization request with changed parameters.
    pub(super) async fn authorize(&self, server: &TestServer, change: &[(&str, &str)]) -> TestResponse {
        server.get_authorize(&self.cookie, &with(&self.params(), change)).await
    }

    /// Grants these scopes.
    pub(super) async fn allow(&self, server: &TestServer, scopes: &[&str]) -> TestResponse {
        let page = self.authorize(server, &[]).await;
        server.decide(&self.cookie, &page, "allow", scopes).await
    }

    /// Returns a code for these scopes.
    pub(super) async fn code(&self, server: &TestServer, scopes: &[&str]) -> String {
        redirect_params(&self.allow(server, scopes).await, CALLBACK)["code"].clone()
    }

    pub(super) fn exchange<'a>(&'a self, code: &'a str) -> Vec<(&'a str, &'a str)> {
        vec![
            ("grant_type", "authorization_code"),
            ("client_id", &self.client),
            ("code", code),
            ("redirect_uri", CALLBACK),
            ("code_verifier", VERIFIER),
            ("resource", RESOURCE),
        ]
    }

    pub(super) fn renewal<'a>(&'a self, token: &'a str) -> Vec<(&'a str, &'a str)> {
        vec![
            ("grant_type", "refresh_token"),
            ("client_id", &self.client),
            ("refresh_token", token),
        ]
    }

    /// Returns tokens for these scopes.
    pub(crate) async fn tokens(&self, server: &TestServer, scopes: &[&str]) -> Tokens {
        let code = self.code(server, scopes).await;
        Tokens::of(&server.token(&self.exchange(&code)).await)
    }

    pub(super) async fn renewed(&self, server: &TestServer, token: &str) -> TestResponse {
        server.token(&self.renewal(token)).await
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    pub(crate) access: String,
    pub(super) refresh: String,
    pub(crate) scope: String,
}

impl Tokens {
    #[track_caller]
    pub(super) fn of(response: &TestResponse) -> Self {
        assert_eq!(response.status, 200, "{response:?}");
        assert_eq!(response.header("cache-control"), "no-store");
        assert_eq!(response.header("access-control-allow-origin"), "*");
        assert_eq!(response.body["token_type"], "Bearer");
        assert_eq!(response.body["expires_in"], 3600);
        let text = |name: &str| response.body[name].as_str().unwrap().to_owned();
        let tokens = Self {
            access: text("access_token"),
            refresh: text("refresh_token"),
            scope: text("scope"),
        };
        let secret = |token: &str, mark| token.strip_prefix(mark).map(str::len);
        assert_eq!(secret(&tokens.access, "mcp_at_"), Some(43));
        assert_eq!(secret(&tokens.refresh, "mcp_rt_"), Some(43));
        tokens
    }
}

impl TestServer {
    pub(super) async fn register_client(&self, body: &Value) -> TestResponse {
        self.anonymous("POST", "/oauth/register").json(body).send().await
    }

    /// Registers a client and returns its id.
    pub(super) async fn registered(&self, uris: &[&str]) -> String {
        let response = self
            .register_client(&json!({"client_name": "Agent", "redirect_uris": uris}))
            .await;
        assert_eq!(response.status, 201, "{response:?}");
        response.body["client_id"].as_str().unwrap().to_owned()
    }

    pub(super) async fn get_authorize(&self, cookie: &str, params: &[(&str, &str)]) -> TestResponse {
        let path = format!("/oauth/authorize?{}", form(params));
        let request = self.anonymous("GET", &path);
        let request = if cookie.is_empty() {
            request
        } else {
            request.header("cookie", cookie)
        };
        request.send().await
    }

    /// Submits a form.
    pub(super) async fn submit_form(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        pairs: &[(&str, &str)],
    ) -> TestResponse {
        let mut request = self.anonymous("POST", path).body(form(pairs));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request
            .header("content-type", "application/x-www-form-urlencoded")
            .send()
            .await
    }

    /// Submits a decision on a consent page, as a browser does.
    pub(super) async fn decide(
        &self,
        cookie: &str,
        page: &TestResponse,
        decision: &str,
        scopes: &[&str],
    ) -> TestResponse {
        assert_eq!(page.status, 200, "{page:?}");
        let (request, nonce) = (hidden(page, "request"), hidden(page, "form"));
        let mut pairs = vec![("form", nonce.as_str()), ("request", &request), ("decision", decision)];
        pairs.extend(scopes.iter().map(|scope| ("scope", *scope)));
        self.submit_form("/oauth/authorize", &[("cookie", cookie), FROM_HERE], &pairs)
            .await
    }

    pub(super) async fn token(&self, pairs: &[(&str, &str)]) -> TestResponse {
        self.submit_form("/oauth/token", &[], pairs).await
    }

    pub(super) async fn actor_of(&self, token: &str) -> Option<Actor> {
        self.service.authenticator.authenticate_grant(token).await.ok()
    }

    pub(super) async fn is_valid(&self, token: &str) -> bool {
        self.actor_of(token).await.is_some()
    }

    pub(super) fn later(&self, seconds: i64) {
        self.clock.advance(jiff::SignedDuration::from_secs(seconds));
    }
}
