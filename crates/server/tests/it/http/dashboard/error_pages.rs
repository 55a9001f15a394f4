//! Error pages, with and without a session.

use serde_json::json;

use super::Browser;
use crate::http::test_server::{TestResponse, TestServer};

const HTML: &str = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8";

#[track_caller]
fn assert_framed(page: &TestResponse) {
    let text = &page.text;
    assert!(text.contains("<nav aria-label=\"Main\">"), "{page:?}");
    assert!(text.contains("type=\"search\" name=\"q\""), "{page:?}");
    assert_eq!(text.matches("<main").count(), 1, "{text}");
    assert!(text.contains("<a href=\"/alerts\">Alerts</a></p>"), "{text}");
    assert_eq!(page.header("referrer-policy"), "same-origin");
}

#[tokio::test]
async fn error_pages_of_a_signed_in_account_have_the_frame_and_a_next_step() {
    let server = TestServer::new().await;
    let ann = Browser::of_another_account(&server).await;
    for (path, status) in [
        ("/nowhere", 404),
        ("/operator", 404),
        ("/alerts/00000000-0000-4000-8000-000000000000", 404),
        ("/stocks/NOSUCH", 404),
        ("/alerts?status=unheard-of", 422),
        ("/alerts/undo", 405),
    ] {
        let page = ann.request("GET", path).header("accept", HTML).send().await.is(status);
        assert_framed(&page);
    }
    let refused = ann
        .post_from("https://evil.example", "/alerts/actions", &[])
        .await
        .is(403);
    assert_framed(&refused);
}

#[tokio::test]
async fn refusal_of_too_many_requests_reads_no_frame_from_the_database() {
    let server = TestServer::new().await;
    let browser = Browser::operator(&server).await;
    let page = loop {
        let page = browser.get("/settings/keys").await;
        if page.status == 429 {
            break page;
        }
    };
    assert!(!page.text.contains("<nav"), "{}", page.text);
}

#[tokio::test]
async fn error_pages_without_a_session_stand_alone() {
    let server = TestServer::new().await;
    let page = server
        .anonymous("GET", "/nowhere")
        .header("accept", HTML)
        .send()
        .await
        .is(404);
    assert!(!page.text.contains("<nav"), "{}", page.text);
    assert!(page.text.contains("<a href=\"/\">Start page</a>"), "{}", page.text);
    assert_eq!(page.header("referrer-policy"), "no-referrer");
}

#[tokio::test]
async fn similar_stocks_are_links() {
    let server = TestServer::new().await;
    let stocks = json!({"stocks": [{"symbol": "AAPL", "name": "Apple Inc."}]});
    let _ = server.post("/v1/market/ingest", stocks).await.ok(200);
    let browser = Browser::operator(&server).await;
    let page = browser.get("/stocks/APPL").await.is(404);
    assert!(
        page.text.contains("<a href=\"/stocks/AAPL\">AAPL (Apple Inc.)</a>"),
        "{}",
        page.text
    );
}

#[tokio::test]
async fn failed_redraw_of_a_part_leaves_the_page_as_it_is() {
    let server = TestServer::new().await;
    let browser = Browser::operator(&server).await;
    let failed = |target: &'static str| {
        let request = browser.request("GET", "/alerts?status=unheard-of");
        request.header("hx-request", "true").header("hx-target", target).send()
    };
    let redraw = failed("div#alert-list").await.is(422);
    assert_eq!(redraw.header("hx-reswap"), "none");
    let main = failed("main#main").await.is(422);
    assert!(!main.headers.contains_key("hx-reswap"));
    assert!(main.text.starts_with("<h1>"), "{}", main.text);
}
