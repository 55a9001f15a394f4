//! The builder of a new alert.

use serde_json::json;

use super::Browser;
use crate::http::test_server::TestServer;

#[tokio::test]
async fn rule_is_shown_as_a_sentence_without_being_stored() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let browser = Browser::operator(&server).await;
    let page = browser.get("/alerts/new?text=AAPL+%3C+80").await.is(200);
    assert!(page.text.contains("AAPL falls below 80.00"), "{}", page.text);
    let part = browser.part("/alerts/new?text=AAPL+prise+%3C+80").await.is(200);
    assert!(
        part.text.contains("Unknown metric") && part.text.contains("<mark>prise"),
        "{}",
        part.text
    );
    assert!(!part.text.contains("<html"), "{}", part.text);
    assert_eq!(server.get("/v1/alerts").await.body["data"].as_array().unwrap().len(), 0);
}

#[tokio::test]
async fn rule_becomes_an_alert_and_an_equal_rule_leads_to_the_same() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let browser = Browser::operator(&server).await;
    let form = [
        ("text", "AAPL <= 80 each time cooldown 1h"),
        ("note", "buy"),
        ("tags", "swing, dip"),
    ];
    let created = browser.post("/alerts/new", &form).await.is(303);
    let again = browser.post("/alerts/new", &form).await.is(303);
    assert_eq!(created.header("location"), again.header("location"));
    let alerts = server.get("/v1/alerts").await.ok(200);
    let alert = &alerts.body["data"][0];
    assert_eq!(
        (&alert["condition"], &alert["threshold"]),
        (&"price_below".into(), &80.into())
    );
    assert_eq!(
        (&alert["note"], &alert["tags"]),
        (&"buy".into(), &json!(["swing", "dip"]))
    );
    assert_eq!(alert["created_by"]["kind"], "person");
}

#[tokio::test]
async fn refused_rule_keeps_the_input_and_names_the_error() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let browser = Browser::operator(&server).await;
    let form = [("text", "AAPL pricee < 80"), ("note", "my note"), ("tags", "one")];
    let page = browser.post("/alerts/new", &form).await.is(422);
    for kept in ["AAPL pricee &#60; 80", "my note", "value=\"one\"", "Unknown metric"] {
        assert!(page.text.contains(kept), "{kept}: {}", page.text);
    }
    let long = "x".repeat(41);
    let page = browser
        .post("/alerts/new", &[("text", "AAPL < 80"), ("tags", &long)])
        .await
        .is(422);
    assert!(page.text.contains("id=\"tags-error\""), "{}", page.text);
    let page = browser.post("/alerts/new", &[("text", "NOPE < 80")]).await;
    assert!(
        [404, 422].contains(&page.status) && page.text.contains("NOPE"),
        "{page:?}"
    );
}

#[tokio::test]
async fn rule_fills_in_the_form() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let browser = Browser::operator(&server).await;
    let part = browser
        .part("/alerts/new?text=AAPL+%3C=+80+each+time+cooldown+1h+to+sms")
        .await
        .is(200);
    for filled in [
        r#"<option value="price_below" selected>"#,
        r#"name="threshold" value="80""#,
        r#"<option value="each_time" selected>"#,
        r#"name="options.cooldown" value="1h""#,
        r#"<option value="sms" selected>"#,
        r#"name="read_rule" value="AAPL &#60;= 80 each time cooldown 1h to sms""#,
    ] {
        assert!(part.text.contains(filled), "{filled}: {}", part.text);
    }
    assert!(
        !part.text.contains(r#"id="rule""#),
        "the typed rule stays: {}",
        part.text
    );
    let broken = browser.part("/alerts/new?text=AAPL+prise+%3C=+80").await.is(200);
    assert!(!broken.text.contains(r#"id="form""#), "the form stays: {}", broken.text);
}

#[tokio::test]
async fn form_writes_the_rule_and_counts_while_the_rule_is_the_same() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let browser = Browser::operator(&server).await;
    let query = "text=old&read_rule=old&shape=price_below+one&symbol=aapl&condition=price_below&threshold=75";
    let part = browser.part(&format!("/alerts/new?{query}")).await.is(200);
    assert!(
        part.text.contains("AAPL falls to 75.00 or below</textarea>"),
        "{}",
        part.text
    );
    assert!(
        !part.text.contains(r#"id="form""#),
        "inputs stay while one types: {}",
        part.text
    );

    let form = [
        ("text", "AAPL <= 80"),
        ("read_rule", "AAPL <= 80"),
        ("symbol", "AAPL"),
        ("condition", "insider_transactions"),
        ("threshold", "500000"),
        ("parameters.direction", "buy"),
        ("parameters.minExecutives", "2"),
    ];
    let _ = browser.post("/alerts/new", &form).await.is(303);
    let of_rule = form.map(|(name, value)| (name, if name == "read_rule" { "AAPL <= 90" } else { value }));
    let _ = browser.post("/alerts/new", &of_rule).await.is(303);
    let alerts = server.get("/v1/alerts").await.ok(200);
    let mut created: Vec<_> = alerts.body["data"].as_array().unwrap().iter().collect();
    created.sort_by_key(|alert| alert["condition"].as_str().unwrap().to_owned());
    assert_eq!(created.len(), 2);
    assert_eq!(created[0]["condition"], "insider_transactions");
    assert_eq!(created[0]["parameters"]["minExecutives"], 2);
    assert_eq!(
        (&created[1]["condition"], &created[1]["threshold"]),
        (&"price_below".into(), &80.into())
    );
}

#[tokio::test]
async fn level_that_the_price_has_passed_is_a_warning_with_the_offer_to_flip() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let browser = Browser::operator(&server).await;
    let part = browser.part("/alerts/new?text=AAPL+%3C=+110").await.is(200);
    for shown in [
        "AAPL is at 100.00, so this would fire at once.",
        r#"name="text" value="AAPL rises to 110.00 or above""#,
        "Flip to above",
    ] {
        assert!(part.text.contains(shown), "{shown}: {}", part.text);
    }
    let part = browser.part("/alerts/new?text=AAPL+%3E+90").await.is(200);
    assert!(
        part.text.contains(r#"name="text" value="AAPL falls below 90.00""#),
        "{}",
        part.text
    );
    for waiting in ["%3C=+90", "%3C+100", "%3E+100", "%3C+90"] {
        let part = browser.part(&format!("/alerts/new?text=AAPL+{waiting}")).await.is(200);
        assert!(!part.text.contains("fire at once"), "{}", part.text);
    }
    // The same in the form of an alert that exists. Of repeated rules, as the button sends, the last counts.
    let id = server.create_alert(125).await;
    let edit = browser
        .get(&format!("/alerts/{id}/edit?text=AAPL+%3E=+90"))
        .await
        .is(200);
    assert!(edit.text.contains("Flip to below"), "{}", edit.text);
    let flip =
        "text=AAPL+%3E=+90&read_rule=AAPL+%3E=+90&condition=price_above&symbol=AAPL&threshold=90&text=AAPL+%3C=+90";
    let edit = browser.get(&format!("/alerts/{id}/edit?{flip}")).await.is(200);
    assert!(
        edit.text.contains(r#"<option value="price_below" selected>"#),
        "{}",
        edit.text
    );
}

#[tokio::test]
async fn other_condition_has_other_inputs() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let browser = Browser::operator(&server).await;
    let query = "shape=price_below+one&symbol=AAPL&condition=social_buzz&threshold=75";
    let part = browser.part(&format!("/alerts/new?{query}")).await.is(200);
    assert!(part.text.contains(r#"name="parameters.direction""#), "{}", part.text);
    assert!(!part.text.contains(r#"name="threshold""#), "{}", part.text);
    // An input that is still empty has no error.
    let part = browser
        .part("/alerts/new?shape=price_below+one&symbol=AAPL&condition=price_below")
        .await
        .is(200);
    assert!(!part.text.contains("class=\"error\""), "{}", part.text);
}

#[tokio::test]
async fn refused_form_has_its_errors_at_the_inputs() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let browser = Browser::operator(&server).await;
    let form = [
        ("symbol", "AAPL"),
        ("condition", "price_below"),
        ("threshold", "-5"),
        ("options.cooldown", "1x"),
        ("options.rearm.at", "9"),
        ("options.rearm.percent", "3"),
    ];
    let page = browser.post("/alerts/new", &form).await.is(422);
    for id in ["threshold-error", "options.cooldown-error", "options.rearm.at-error"] {
        assert!(page.text.contains(&format!(r#"id="{id}""#)), "{id}: {}", page.text);
    }
    for kept in [
        r#"name="threshold" value="-5""#,
        r#"name="options.cooldown" value="1x""#,
    ] {
        assert!(page.text.contains(kept), "{kept}: {}", page.text);
    }
}

#[tokio::test]
async fn form_creates_one_alert_over_several_stocks() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    server.set_price("MSFT", 300.0).await;
    let browser = Browser::operator(&server).await;
    let form = [
        ("stocks", "several"),
        ("scope.symbols", "aapl, MSFT"),
        ("condition", "expression"),
        ("parameters.when", "price < sma(20)"),
    ];
    let query: String = form
        .map(|(name, value)| format!("{name}={}", value.replace(' ', "+").replace('<', "%3C")))
        .join("&");
    let part = browser.part(&format!("/alerts/new?{query}")).await.is(200);
    assert!(part.text.contains("AAPL, MSFT: fires when"), "{}", part.text);
    let _ = browser.post("/alerts/new", &form).await.is(303);
    let alerts = server.get("/v1/alerts").await.ok(200);
    assert_eq!(alerts.body["data"][0]["scope"], json!({"symbols": ["AAPL", "MSFT"]}));
}

#[tokio::test]
async fn form_survives_the_end_of_its_session() {
    let server = TestServer::new().await;
    server.set_price("AAPL", 100.0).await;
    let browser = Browser::operator(&server).await;
    let _ = browser.post("/sign-out", &[]).await.is(303);
    let response = browser
        .post("/alerts/new", &[("text", "AAPL < 80"), ("note", "a & b")])
        .await
        .is(303);
    let next = "%2Falerts%2Fnew%3Ftext%3DAAPL%2B%253C%2B80%26note%3Da%2B%2526%2Bb";
    assert_eq!(response.header("location"), format!("/sign-in?next={next}"));
}

#[tokio::test]
async fn search_box_leads_to_stocks_and_rules() {
    let server = TestServer::new().await;
    let browser = Browser::operator(&server).await;
    for (text, expected) in [
        ("aapl", "/stocks/AAPL"),
        ("AAPL+%3C+180", "/alerts/new?text=AAPL+%3C+180"),
        ("", "/alerts"),
    ] {
        let response = browser.get(&format!("/go?q={text}")).await.is(303);
        assert_eq!(response.header("location"), expected);
    }
}

#[tokio::test]
async fn examples_are_about_a_stock_that_the_service_knows() {
    let server = TestServer::new().await;
    let browser = Browser::operator(&server).await;
    for (symbol, expected) in [("DUNE", "DUNE price"), ("AAPL", "AAPL price")] {
        server.set_price(symbol, 100.0).await;
        let page = browser.get("/alerts/new").await.is(200);
        assert!(
            page.text.contains(&format!("<code>{expected} &#60;= 180</code>")),
            "{}",
            page.text
        );
    }
}

/// Returns the addresses of a page's links to the builder with a rule.
fn rule_links(page: &str) -> Vec<String> {
    let parts = page.split("href=\"").skip(1);
    let links = parts.filter_map(|part| part.split('"').next());
    links
        .filter(|link| link.contains("/alerts/new?text="))
        .map(|link| link.replace("&#38;", "&").replace("&amp;", "&"))
        .collect()
}

#[tokio::test]
async fn every_example_and_figure_leads_to_a_valid_rule() {
    let server = TestServer::new().await;
    let batch = json!({
        "stocks": [{"symbol": "AAPL", "name": "Apple"}],
        "quotes": [{"symbol": "AAPL", "price": 100, "volume": 5_000_000}],
    });
    server.post("/v1/market/ingest", batch).await.ok(200);
    let browser = Browser::operator(&server).await;
    let mut links = Vec::new();
    for page in ["/alerts/new", "/stocks/AAPL"] {
        links.extend(rule_links(&browser.get(page).await.is(200).text));
    }
    assert!(links.iter().any(|link| link.contains("avg_volume")), "{links:?}");
    assert!(links.len() >= 6, "{links:?}");
    for link in links {
        let page = browser.get(&link).await.is(200);
        assert!(!page.text.contains("class=\"error\""), "{link}: {}", page.text);
    }
}
