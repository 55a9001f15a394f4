//! The operator's screen.

use ::alerts::engine::Feed;

use super::Browser;
use crate::http::identity::{on_each_database, start_server};
use crate::http::test_server::TestServer;

on_each_database! {
    operator_sees_accounts_and_alerts_and_runs_a_job
}

async fn operator_sees_accounts_and_alerts_and_runs_a_job(server: TestServer) {
    server.set_price("AAPL", 100.0).await;
    let _ = server.create_alert(125).await;
    let browser = Browser::operator(&server).await;
    let page = browser.get("/operator").await.is(200);
    assert!(
        page.text.contains("operator@example.com") && page.text.contains("Ready"),
        "{}",
        page.text
    );
    assert!(page.text.contains("market data is pushed"), "{}", page.text);
    assert!(
        !page.text.contains("_total") && !page.text.contains("<code>feed"),
        "{}",
        page.text
    );
    assert!(
        page.text.contains("<dt>Active</dt><dd class=\"figure\">1</dd>"),
        "{}",
        page.text
    );
    let run = browser.post("/operator/jobs", &[("job", "evaluate")]).await;
    let page = browser.follow(&run).await.is(200);
    assert!(
        page.text.contains("evaluate: all alerts that were due"),
        "{}",
        page.text
    );
    let unknown = browser.post("/operator/jobs", &[("job", "nothing")]).await;
    assert!(browser.follow(&unknown).await.text.contains("role=\"alert\""));
}

#[tokio::test]
async fn operator_sees_the_settings_in_effect() {
    let settings = server::HttpConfig {
        effective_settings: "[server]\npublic_url = \"<none>\"".to_owned(),
        ..server::HttpConfig::default()
    };
    let server = TestServer::with_database(testkit::Database::sqlite(), settings, |_| ()).await;
    let page = Browser::operator(&server).await.get("/operator").await.is(200);
    assert!(
        page.text.contains("[server]\npublic_url = &#34;&#60;none&#62;&#34;"),
        "{}",
        page.text
    );
}

#[tokio::test]
async fn operator_sees_data_that_no_source_delivers() {
    let operator_page = async |missing: &[Feed]| {
        let server =
            TestServer::with_database(testkit::Database::sqlite(), server::HttpConfig::default(), |settings| {
                settings.evaluation.missing_feeds = missing.to_vec();
            });
        let server = server.await;
        Browser::operator(&server).await.get("/operator").await.is(200)
    };
    let page = operator_page(&[Feed::Mentions]).await;
    assert!(
        page.text.contains(">mentions</td>") && page.text.contains("No source delivers it."),
        "{}",
        page.text
    );
    let page = operator_page(&[]).await;
    assert!(page.text.contains("No prices were missed"), "{}", page.text);
}

#[tokio::test]
async fn for_others_the_page_does_not_exist_and_has_no_link() {
    let server = TestServer::new().await;
    let ann = Browser::of_another_account(&server).await;
    let _ = ann.get("/operator").await.is(404);
    let _ = ann.post("/operator/jobs", &[("job", "cleanup")]).await.is(404);
    assert!(!ann.get("/").await.text.contains("/operator"));
    assert!(
        Browser::operator(&server)
            .await
            .get("/")
            .await
            .text
            .contains("/operator")
    );
}
