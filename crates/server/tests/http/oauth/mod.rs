//! OAuth, as programs and browsers meet it.

mod clients;
mod consent;
mod discovery;
mod ending;
mod refresh;
mod requests;
mod sign_in;
mod tokens;

use std::collections::HashMap;

use serde_json::{Value, json};
use service::Actor;
use url::{Url, form_urlencoded};

use crate::signing::{ANN, world};
use crate::world::{Answer, World};

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

/// Pairs with some others: what has the same name takes the place, and one without a value goes.
pub(super) fn with<'a>(pairs: &[(&'a str, &'a str)], change: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut all: Vec<_> = pairs.to_vec();
    all.retain(|(name, _)| change.iter().all(|(changed, _)| changed != name));
    all.extend(change.iter().filter(|(_, value)| !value.is_empty()));
    all
}

/// What a place to which a browser is sent has in its query.
#[track_caller]
pub(super) fn told(answer: &Answer, callback: &str) -> HashMap<String, String> {
    assert!(matches!(answer.status, 302 | 303), "{answer:?}");
    let location = answer.header("location");
    assert!(location.starts_with(callback), "{location}");
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("referrer-policy"), "no-referrer");
    let pairs = Url::parse(location).unwrap();
    let all: Vec<_> = pairs.query_pairs().into_owned().collect();
    let told: HashMap<_, _> = all.iter().cloned().collect();
    assert_eq!(told.len(), all.len(), "nothing comes twice: {location}");
    assert_eq!(told["iss"], ISSUER);
    told
}

/// A page that says what is wrong, and sends nobody anywhere.
#[track_caller]
pub(super) fn shown(answer: &Answer, status: u16, text: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert!(answer.headers.get("location").is_none(), "{answer:?}");
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    assert!(answer.text.contains(text), "{text:?} is not in {}", answer.text);
}

/// A program is refused in OAuth's words.
#[track_caller]
pub(super) fn refused(answer: &Answer, status: u16, error: &str) {
    assert_eq!(
        (answer.status, &answer.body["error"]),
        (status, &json!(error)),
        "{answer:?}"
    );
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    let description = answer.body["error_description"].as_str().unwrap();
    assert!(
        !description.is_empty() && !description.contains(['"', '\\']),
        "{description}"
    );
    assert!(answer.body.get("success").is_none(), "it is not in the API's envelope");
}

/// A hidden field of a page's form.
#[track_caller]
pub(super) fn hidden(page: &Answer, name: &str) -> String {
    let begin = format!("name=\"{name}\" value=\"");
    let (_, rest) = page
        .text
        .split_once(&begin)
        .unwrap_or_else(|| panic!("no {name}: {}", page.text));
    rest.split('"').next().unwrap().to_owned()
}

/// A program that has registered, and somebody who has signed in in a browser.
pub(crate) struct Stage {
    pub(super) client: String,
    /// The session's.
    pub(super) cookie: String,
    pub(crate) access: String,
}

impl Stage {
    pub(crate) async fn on(world: &World) -> Self {
        world.confirmed(ANN).await;
        let ann = world.signed_in(ANN).await;
        Self {
            client: world.registered(&[CALLBACK]).await,
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

    /// A request with some parameters changed.
    pub(super) async fn ask(&self, world: &World, change: &[(&str, &str)]) -> Answer {
        world.show(&self.cookie, &with(&self.params(), change)).await
    }

    /// Allows that much.
    pub(super) async fn allow(&self, world: &World, scopes: &[&str]) -> Answer {
        let page = self.ask(world, &[]).await;
        world.decide(&self.cookie, &page, "allow", scopes).await
    }

    /// A code for that much.
    pub(super) async fn code(&self, world: &World, scopes: &[&str]) -> String {
        told(&self.allow(world, scopes).await, CALLBACK)["code"].clone()
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

    /// Tokens for that much.
    pub(crate) async fn tokens(&self, world: &World, scopes: &[&str]) -> Tokens {
        let code = self.code(world, scopes).await;
        Tokens::of(&world.token(&self.exchange(&code)).await)
    }

    pub(super) async fn renewed(&self, world: &World, token: &str) -> Answer {
        world.token(&self.renewal(token)).await
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
    pub(super) fn of(answer: &Answer) -> Self {
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        assert_eq!(answer.body["token_type"], "Bearer");
        assert_eq!(answer.body["expires_in"], 3600);
        let text = |name: &str| answer.body[name].as_str().unwrap().to_owned();
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

impl World {
    pub(super) async fn register_client(&self, body: &Value) -> Answer {
        self.stranger("POST", "/oauth/register").json(body).send().await
    }

    /// The id of a program that registers.
    pub(super) async fn registered(&self, uris: &[&str]) -> String {
        let answer = self
            .register_client(&json!({"client_name": "Agent", "redirect_uris": uris}))
            .await;
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.body["client_id"].as_str().unwrap().to_owned()
    }

    pub(super) async fn show(&self, cookie: &str, params: &[(&str, &str)]) -> Answer {
        let path = format!("/oauth/authorize?{}", form(params));
        let request = self.stranger("GET", &path);
        let request = if cookie.is_empty() {
            request
        } else {
            request.header("cookie", cookie)
        };
        request.send().await
    }

    /// Presses a button of a page.
    pub(super) async fn press(&self, path: &str, headers: &[(&str, &str)], pairs: &[(&str, &str)]) -> Answer {
        let mut request = self.stranger("POST", path).body(form(pairs));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request
            .header("content-type", "application/x-www-form-urlencoded")
            .send()
            .await
    }

    /// Decides on a page, as a browser would.
    pub(super) async fn decide(&self, cookie: &str, page: &Answer, decision: &str, scopes: &[&str]) -> Answer {
        assert_eq!(page.status, 200, "{page:?}");
        let (request, nonce) = (hidden(page, "request"), hidden(page, "form"));
        let mut pairs = vec![("form", nonce.as_str()), ("request", &request), ("decision", decision)];
        pairs.extend(scopes.iter().map(|scope| ("scope", *scope)));
        self.press("/oauth/authorize", &[("cookie", cookie), FROM_HERE], &pairs)
            .await
    }

    pub(super) async fn token(&self, pairs: &[(&str, &str)]) -> Answer {
        self.press("/oauth/token", &[], pairs).await
    }

    pub(super) async fn acting(&self, token: &str) -> Option<Actor> {
        self.service.authenticator.authenticate_grant(token).await.ok()
    }

    pub(super) async fn is_good(&self, token: &str) -> bool {
        self.acting(token).await.is_some()
    }

    pub(super) fn later(&self, seconds: i64) {
        self.clock.advance(jiff::SignedDuration::from_secs(seconds));
    }
}
