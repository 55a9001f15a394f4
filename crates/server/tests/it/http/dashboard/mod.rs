//! The dashboard's pages, as a browser requests them.

mod access;
mod alerts;
mod builder;
mod builder_notification;
mod channels;
mod deliveries;
mod editor;
mod error_pages;
mod events;
mod fired;
mod first_account;
mod isolation;
mod notification_channels;
mod operator;
mod receipts;
mod recent_changes;
mod rule_and_form;
mod settings;
mod today;
mod undo;
mod watchlist;

use url::form_urlencoded;

use crate::http::test_server::{TestRequest, TestResponse, TestServer};

/// A browser with a session.
pub(super) struct Browser<'a> {
    server: &'a TestServer,
    cookie: String,
}

impl<'a> Browser<'a> {
    /// Signs an account in.
    pub(super) async fn signed_in(server: &'a TestServer, email: &str) -> Self {
        let cookie = server.signed_in(email).await.cookie;
        Self { server, cookie }
    }

    /// The operator of the test server.
    pub(super) async fn operator(server: &'a TestServer) -> Self {
        Self::signed_in(server, "operator@example.com").await
    }

    /// Another account than the operator's.
    pub(super) async fn of_another_account(server: &'a TestServer) -> Self {
        let (email, plan) = ("ann@example.com", ::alerts::Plan::Premium);
        server.account(email, plan, false, foundation::Scope::PUBLIC).await;
        Self::signed_in(server, email).await
    }

    pub(super) async fn get(&self, path: &str) -> TestResponse {
        self.server
            .anonymous("GET", path)
            .header("cookie", &self.cookie)
            .send()
            .await
    }

    /// The cookie of the session.
    pub(super) fn cookie(&self) -> &str {
        &self.cookie
    }

    /// Starts a request with the browser's session.
    pub(super) fn request(&self, method: &str, path: &str) -> TestRequest<'_> {
        self.server.anonymous(method, path).header("cookie", &self.cookie)
    }

    /// Requests a part of a page, as htmx does.
    pub(super) async fn part(&self, path: &str) -> TestResponse {
        let request = self.server.anonymous("GET", path).header("cookie", &self.cookie);
        request.header("hx-request", "true").send().await
    }

    /// Sends a form of one of the service's own pages.
    pub(super) async fn post(&self, path: &str, form: &[(&str, &str)]) -> TestResponse {
        self.post_from("https://alerts.example.com", path, form).await
    }

    pub(super) async fn post_from(&self, origin: &str, path: &str, form: &[(&str, &str)]) -> TestResponse {
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish();
        let request = self.server.anonymous("POST", path).header("cookie", &self.cookie);
        let request = request.header("origin", origin);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        request.body(body).send().await
    }

    /// Follows the redirect of a form with the notice that it has set.
    pub(super) async fn follow(&self, response: &TestResponse) -> TestResponse {
        assert_eq!(response.status, 303, "{response:?}");
        let cookies: Vec<&str> = response
            .headers
            .get_all("set-cookie")
            .iter()
            .filter_map(|value| value.to_str().ok()?.split(';').next())
            .collect();
        let cookie = format!("{}; {}", self.cookie, cookies.join("; "));
        let request = self.server.anonymous("GET", response.header("location"));
        request.header("cookie", &cookie).send().await
    }
}

/// Returns the notice about the last change.
#[track_caller]
pub(super) fn notice_of(page: &str) -> &str {
    let (_, rest) = page.split_once("<div id=\"notice\"").unwrap();
    rest.split("</div>").next().unwrap()
}

/// Returns the value of a hidden field.
#[track_caller]
pub(super) fn hidden(page: &TestResponse, name: &str) -> String {
    let begin = format!("name=\"{name}\" value=\"");
    let (_, rest) = page
        .text
        .split_once(&begin)
        .unwrap_or_else(|| panic!("no {name}: {}", page.text));
    rest.split('"').next().unwrap().to_owned()
}
