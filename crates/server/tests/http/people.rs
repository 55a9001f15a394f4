//! People who have an account, a session and a key.

use alerts::Plan;
use serde_json::{Value, json};
use service::identity::SignIn;
use service::{Scope, ServiceError};

use crate::world::{Answer, Sending, World};

/// The password of everybody.
pub(crate) const PASSWORD: &str = "correct horse";

/// Somebody who has signed in.
pub(crate) struct Person<'a> {
    pub(crate) world: &'a World,
    /// Their address.
    pub(crate) email: String,
    /// An API key with all scopes that are open to everybody.
    pub(crate) key: String,
    /// An access token.
    pub(crate) token: String,
    /// What the session's cookie holds.
    pub(crate) cookie: String,
}

impl World {
    /// Somebody of that name, on that plan, with a confirmed address.
    pub(crate) async fn person(&self, name: &str, plan: Plan) -> Person<'_> {
        let email = format!("{name}@example.com");
        let key = self.account(&email, plan, false, Scope::PUBLIC).await;
        let body = json!({"email": email, "password": PASSWORD});
        let answer = self.stranger("POST", "/v1/auth/login").json(&body).send().await.ok(200);
        let cookie = answer.header("set-cookie").split(';').next().unwrap();
        Person {
            world: self,
            email,
            key,
            token: answer.body["data"]["access_token"].as_str().unwrap().to_owned(),
            cookie: cookie.split_once('=').unwrap().1.to_owned(),
        }
    }
}

impl Person<'_> {
    /// A request with the access token.
    pub(crate) fn request(&self, method: &str, path: &str) -> Sending<'_> {
        let request = self.world.stranger(method, path);
        request.header("authorization", &format!("Bearer {}", self.token))
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.request("GET", path).send().await
    }

    /// An access token and a cookie of another session. Not over HTTP, where an address may try so often only.
    pub(crate) async fn sign_in(&self, password: &str) -> Result<(String, String), ServiceError> {
        let body = json!({"email": self.email, "password": password});
        match self
            .world
            .service
            .identity
            .sign_in(&body, [192, 0, 2, 1].into())
            .await?
        {
            SignIn::Done(signed_in) => Ok((signed_in.access_token, signed_in.cookie.unwrap())),
            SignIn::Mailed => panic!("a link was mailed"),
        }
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: Value) -> Answer {
        self.request(method, path).json(&body).send().await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.request("POST", path).json(&body).send().await
    }

    /// What comes of a request with the API key.
    pub(crate) async fn by_key(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let request = self.world.stranger(method, path).header("x-api-key", &self.key);
        match body {
            Some(body) => request.json(&body).send().await,
            None => request.send().await,
        }
    }
}
