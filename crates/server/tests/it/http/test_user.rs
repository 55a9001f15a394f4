//! Test users with an account, a session and a key.

use accounts::identity::SignInResult;
use alerts::Plan;
use foundation::{Scope, ServiceError};
use serde_json::{Value, json};

use crate::http::test_server::{TestRequest, TestResponse, TestServer};

/// The password of all test users.
pub(crate) const PASSWORD: &str = "correct horse";

/// A signed-in user.
pub(crate) struct TestUser<'a> {
    pub(crate) server: &'a TestServer,
    /// The email address.
    pub(crate) email: String,
    /// An API key with all public scopes.
    pub(crate) key: String,
    /// An access token.
    pub(crate) token: String,
    /// The value of the session cookie.
    pub(crate) cookie: String,
}

impl TestServer {
    /// Creates a user with a confirmed address.
    pub(crate) async fn create_user(&self, name: &str, plan: Plan) -> TestUser<'_> {
        let email = format!("{name}@example.com");
        let key = self.account(&email, plan, false, Scope::PUBLIC).await;
        let body = json!({"email": email, "password": PASSWORD});
        let response = self
            .anonymous("POST", "/v1/auth/login")
            .json(&body)
            .send()
            .await
            .ok(200);
        let cookie = response.header("set-cookie").split(';').next().unwrap();
        TestUser {
            server: self,
            email,
            key,
            token: response.body["data"]["access_token"].as_str().unwrap().to_owned(),
            cookie: cookie.split_once('=').unwrap().1.to_owned(),
        }
    }
}

impl TestUser<'_> {
    /// Creates a request with the access token.
    pub(crate) fn request(&self, method: &str, path: &str) -> TestRequest<'_> {
        let request = self.server.anonymous(method, path);
        request.header("authorization", &format!("Bearer {}", self.token))
    }

    pub(crate) async fn get(&self, path: &str) -> TestResponse {
        self.request("GET", path).send().await
    }

    /// Starts another session and returns its access token and cookie. It bypasses HTTP and its login limit.
    pub(crate) async fn sign_in(&self, password: &str) -> Result<(String, String), ServiceError> {
        let body = json!({"email": self.email, "password": password});
        match self
            .server
            .service
            .identity
            .sign_in(&body, [192, 0, 2, 1].into())
            .await?
        {
            SignInResult::SignedIn(signed_in) => Ok((signed_in.access_token, signed_in.cookie.unwrap())),
            SignInResult::LinkSent => panic!("a link was mailed"),
        }
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: Value) -> TestResponse {
        self.request(method, path).json(&body).send().await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> TestResponse {
        self.request("POST", path).json(&body).send().await
    }

    /// Sends a request with the API key.
    pub(crate) async fn send_with_key(&self, method: &str, path: &str, body: Option<Value>) -> TestResponse {
        let request = self.server.anonymous(method, path).header("x-api-key", &self.key);
        match body {
            Some(body) => request.json(&body).send().await,
            None => request.send().await,
        }
    }
}
