//! The first account of a service.

use futures_util::future::join_all;

use crate::http::identity::{PASSWORD, on_each_database, unlimited};
use crate::http::test_server::{TestResponse, TestServer};

on_each_database! {
    first_account_needs_the_code_elsewhere_and_operates_the_service
    only_one_of_many_concurrent_requests_creates_the_first_account
}

async fn start_server(database: testkit::Database) -> TestServer {
    TestServer::without_accounts(database, unlimited(), |_| ()).await
}

async fn create(server: &TestServer, email: &str, password: &str, code: &str) -> TestResponse {
    let body = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("email", email), ("password", password), ("code", code)])
        .finish();
    let request = server
        .anonymous("POST", "/first-account")
        .header("sec-fetch-site", "same-origin");
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    request.body(body).send().await
}

async fn first_account_needs_the_code_elsewhere_and_operates_the_service(server: TestServer) {
    let start = server.anonymous("GET", "/").send().await.is(303);
    assert_eq!(start.header("location"), "/first-account");
    let sign_in = server.anonymous("GET", "/sign-in").send().await.is(303);
    assert_eq!(sign_in.header("location"), "/first-account");
    let page = server.anonymous("GET", "/first-account").send().await.is(200);
    assert!(page.text.contains("name=\"code\""), "{}", page.text);
    let code = server.service.identity.first_account_code().to_owned();
    for wrong in ["", "x", &code[1..]] {
        let refused = create(&server, "first@example.com", PASSWORD, wrong).await.is(422);
        assert!(refused.text.contains("id=\"code-error\""), "{}", refused.text);
        assert!(refused.text.contains("value=\"first@example.com\""), "{}", refused.text);
    }
    let weak = create(&server, "first@example.com", "short", &code).await.is(422);
    assert!(weak.text.contains("id=\"password-error\""), "{}", weak.text);
    let created = create(&server, "first@example.com", PASSWORD, &code).await.is(303);
    assert_eq!(created.header("location"), "/");
    let cookie = crate::http::identity::cookie(&created);
    let session = server.session_of_cookie(&cookie).await.ok(200);
    assert_eq!(session.body["data"]["user"]["email"], "first@example.com");
    assert_eq!(session.body["data"]["user"]["account_type"], "premium");
    let _ = server.anonymous("GET", "/first-account").send().await.is(404);
    let _ = create(&server, "second@example.com", PASSWORD, &code).await.is(404);
    let sign_in = server.anonymous("GET", "/sign-in").send().await.is(200);
    assert!(sign_in.text.contains("name=\"password\""), "{}", sign_in.text);
}

async fn only_one_of_many_concurrent_requests_creates_the_first_account(server: TestServer) {
    let code = server.service.identity.first_account_code().to_owned();
    let emails: Vec<String> = (0..8).map(|number| format!("user{number}@example.com")).collect();
    let requests = emails.iter().map(|email| create(&server, email, PASSWORD, &code));
    let responses = join_all(requests).await;
    let created = responses.iter().filter(|response| response.status == 303).count();
    let refused = responses.iter().filter(|response| response.status == 404).count();
    assert_eq!((created, refused), (1, 7));
}
