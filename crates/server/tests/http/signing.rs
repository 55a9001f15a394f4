//! People who register, sign in and stay so: what the tests of identity have in common.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use server::{Limits, Settings};
use testkit::Database;

use crate::world::{Answer, Sending, World};

pub(crate) const ANN: &str = "ann@example.com";
pub(crate) const PASSWORD: &str = "correct horse";
pub(crate) const ANOTHER: &str = "battery staple";

/// Runs each test on each database, in the world that `world` makes of it.
macro_rules! on_each_database {
    ($($test:ident)*) => {
        mod sqlite {
            $(#[test]
            fn $test() {
                testkit::run(async {
                    super::$test(super::world(testkit::Database::sqlite()).await).await;
                });
            })*
        }
        mod postgresql {
            $(#[test]
            fn $test() {
                testkit::run(async {
                    super::$test(super::world(testkit::Database::postgres().await).await).await;
                });
            })*
        }
    };
}
pub(crate) use on_each_database;

pub(crate) fn unlimited() -> Settings {
    Settings {
        limits: Limits {
            login_per_minute: 100_000,
            register_per_hour: 100_000,
            basic_per_hour: 100_000,
            ..Limits::default()
        },
        ..Settings::default()
    }
}

/// A world where nobody is limited by their address.
pub(crate) async fn world(database: Database) -> World {
    World::on(database, unlimited(), |_| ()).await
}

/// Somebody who has signed in.
#[derive(Clone, Debug)]
pub(crate) struct SignedIn {
    pub(crate) access: String,
    pub(crate) refresh: String,
    /// Name and value, as a browser sends them.
    pub(crate) cookie: String,
}

impl SignedIn {
    #[track_caller]
    pub(crate) fn of(answer: &Answer) -> Self {
        assert_eq!(answer.status, 200, "{answer:?}");
        let text = |name: &str| answer.body["data"][name].as_str().unwrap().to_owned();
        Self {
            access: text("access_token"),
            refresh: text("refresh_token"),
            cookie: cookie(answer),
        }
    }
}

/// The cookie that an answer sets, as a browser sends it.
#[track_caller]
pub(crate) fn cookie(answer: &Answer) -> String {
    answer.header("set-cookie").split(';').next().unwrap().to_owned()
}

pub(crate) fn base64(secret: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(secret)
}

impl World {
    /// The secret that was made up last, as a link has it: nobody but who reads the letter knows it.
    pub(crate) fn mailed(&self) -> String {
        base64(&self.drawn.last())
    }

    /// A stranger's request to `/auth/...`.
    pub(crate) fn asking(&self, route: &str, body: &Value) -> Sending<'_> {
        self.stranger("POST", &format!("/v1/auth/{route}")).json(body)
    }

    pub(crate) async fn ask(&self, route: &str, body: Value) -> Answer {
        self.asking(route, &body).send().await
    }

    /// Registers, and gives the token of the link that confirms it.
    pub(crate) async fn register(&self, email: &str, password: &str) -> String {
        let body = json!({"email": email, "password": password});
        let _ = self.ask("register", body).await.ok(201);
        self.mailed()
    }

    /// An account whose address is confirmed.
    pub(crate) async fn confirmed(&self, email: &str) {
        let token = self.register(email, PASSWORD).await;
        let _ = self.ask("confirm", json!({"token": token})).await.ok(200);
    }

    pub(crate) async fn login(&self, email: &str, password: &str) -> Answer {
        self.ask("login", json!({"email": email, "password": password})).await
    }

    pub(crate) async fn signed_in(&self, email: &str) -> SignedIn {
        SignedIn::of(&self.login(email, PASSWORD).await)
    }

    /// Asks for a link to sign in by, and gives its token.
    pub(crate) async fn magic_link(&self, email: &str) -> String {
        let _ = self
            .ask("login", json!({"email": email, "type": "magic_link"}))
            .await
            .ok(200);
        self.mailed()
    }

    /// Asks for a link to choose a new password with, and gives its token.
    pub(crate) async fn reset_link(&self, email: &str) -> String {
        let _ = self.ask("request-reset", json!({"email": email})).await.ok(200);
        self.mailed()
    }

    pub(crate) async fn reset(&self, email: &str, token: &str, password: &str) -> Answer {
        let body = json!({"email": email, "token": token, "new_password": password});
        self.ask("reset-confirm", body).await
    }

    pub(crate) async fn refresh(&self, token: &str) -> Answer {
        self.ask("refresh", json!({"refresh_token": token})).await
    }

    /// What the session looks like to whoever shows an access token.
    pub(crate) async fn session(&self, access: &str) -> Answer {
        let request = self.stranger("GET", "/v1/auth/session");
        request
            .header("authorization", &format!("Bearer {access}"))
            .send()
            .await
    }

    /// What the session looks like to a browser.
    pub(crate) async fn session_of_cookie(&self, cookie: &str) -> Answer {
        let request = self.stranger("GET", "/v1/auth/session");
        request.header("cookie", cookie).send().await
    }
}
