//! Helpers for tests of registration, sign-in and sessions.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use server::{HttpConfig, RateLimits};
use testkit::Database;

use crate::http::test_server::{TestRequest, TestResponse, TestServer};

pub(crate) const ANN: &str = "ann@example.com";
pub(crate) const PASSWORD: &str = "correct horse";
pub(crate) const OTHER_PASSWORD: &str = "battery staple";

/// Runs each test on each database, on a server from `start_server`.
macro_rules! on_each_database {
    ($($test:ident)*) => {
        mod sqlite {
            $(#[test]
            fn $test() {
                testkit::run(async {
                    super::$test(super::start_server(testkit::Database::sqlite()).await).await;
                });
            })*
        }
        mod postgresql {
            $(#[test]
            fn $test() {
                testkit::run(async {
                    super::$test(super::start_server(testkit::Database::postgres().await).await).await;
                });
            })*
        }
    };
}
pub(crate) use on_each_database;

pub(crate) fn unlimited() -> HttpConfig {
    HttpConfig {
        limits: RateLimits {
            login_per_minute: 100_000,
            register_per_hour: 100_000,
            basic_per_hour: 100_000,
            ..RateLimits::default()
        },
        ..HttpConfig::default()
    }
}

/// Starts a server without rate limits per address.
pub(crate) async fn start_server(database: Database) -> TestServer {
    TestServer::with_database(database, unlimited(), |_| ()).await
}

/// A signed-in session.
#[derive(Clone, Debug)]
pub(crate) struct SignedIn {
    pub(crate) access: String,
    pub(crate) refresh: String,
    /// The value of the `Cookie` header.
    pub(crate) cookie: String,
}

impl SignedIn {
    #[track_caller]
    pub(crate) fn of(response: &TestResponse) -> Self {
        assert_eq!(response.status, 200, "{response:?}");
        let text = |name: &str| response.body["data"][name].as_str().unwrap().to_owned();
        Self {
            access: text("access_token"),
            refresh: text("refresh_token"),
            cookie: cookie(response),
        }
    }
}

/// Returns the cookie that a response sets, as the value of a `Cookie` header.
#[track_caller]
pub(crate) fn cookie(response: &TestResponse) -> String {
    response.header("set-cookie").split(';').next().unwrap().to_owned()
}

pub(crate) fn base64(secret: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(secret)
}

impl TestServer {
    /// Returns the latest generated secret in the encoding of links. Only the reader of the email knows it.
    pub(crate) fn latest_token(&self) -> String {
        base64(&self.generated_secrets.last())
    }

    /// Creates an unauthenticated request to `/auth/...`.
    pub(crate) fn auth_request(&self, route: &str, body: &Value) -> TestRequest<'_> {
        self.anonymous("POST", &format!("/v1/auth/{route}")).json(body)
    }

    pub(crate) async fn post_auth(&self, route: &str, body: Value) -> TestResponse {
        self.auth_request(route, &body).send().await
    }

    /// Registers an account, and returns the token of its confirmation link.
    pub(crate) async fn register(&self, email: &str, password: &str) -> String {
        let body = json!({"email": email, "password": password});
        let _ = self.post_auth("register", body).await.ok(201);
        self.latest_token()
    }

    /// Creates an account with a confirmed address.
    pub(crate) async fn confirmed(&self, email: &str) {
        let token = self.register(email, PASSWORD).await;
        let _ = self.post_auth("confirm", json!({"token": token})).await.ok(200);
    }

    pub(crate) async fn login(&self, email: &str, password: &str) -> TestResponse {
        self.post_auth("login", json!({"email": email, "password": password}))
            .await
    }

    pub(crate) async fn signed_in(&self, email: &str) -> SignedIn {
        SignedIn::of(&self.login(email, PASSWORD).await)
    }

    /// Requests a magic link, and returns its token.
    pub(crate) async fn magic_link(&self, email: &str) -> String {
        let _ = self
            .post_auth("login", json!({"email": email, "type": "magic_link"}))
            .await
            .ok(200);
        self.latest_token()
    }

    /// Requests a password reset link, and returns its token.
    pub(crate) async fn reset_link(&self, email: &str) -> String {
        let _ = self.post_auth("request-reset", json!({"email": email})).await.ok(200);
        self.latest_token()
    }

    pub(crate) async fn reset(&self, email: &str, token: &str, password: &str) -> TestResponse {
        let body = json!({"email": email, "token": token, "new_password": password});
        self.post_auth("reset-confirm", body).await
    }

    pub(crate) async fn refresh(&self, token: &str) -> TestResponse {
        self.post_auth("refresh", json!({"refresh_token": token})).await
    }

    /// Returns the session of an access token.
    pub(crate) async fn session(&self, access: &str) -> TestResponse {
        let request = self.anonymous("GET", "/v1/auth/session");
        request
            .header("authorization", &format!("Bearer {access}"))
            .send()
            .await
    }

    /// Returns the session of a cookie.
    pub(crate) async fn session_of_cookie(&self, cookie: &str) -> TestResponse {
        let request = self.anonymous("GET", "/v1/auth/session");
        request.header("cookie", cookie).send().await
    }
}
