//! People who have an account, a session and a key.

use alerts::Plan;
use serde_json::{Value, json};
use service::Scope;

use crate::world::{Answer, Sending, World};

/// The password of everybody.
pub(crate) const PASSWORD: &str = "correct horse";

/// Somebody who has signed in.
pub(crate) struct Person<'a> {
    pub(crate) world: &'a World,
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
