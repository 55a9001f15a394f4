//! `GET /alerts`

use acceptance::{ApiClient, ServiceSetup, TestEnvironment, on_both_databases};
use serde_json::{Value, json};

on_both_databases![
    page_size_is_10_by_default_newest_first,
    page_size_is_100_at_most,
    filters_select_matching_alerts,
    list_can_be_sorted_by_every_field,
    minimal_list_has_five_fields,
    extended_list_adds_stock_and_distance,
    invalid_query_parameter_is_422_with_field_name,
    unknown_query_parameters_are_ignored,
    search_treats_wildcards_as_literal_text,
];

const ALERTS: &[(&str, &str, f64)] = &[
    ("AAPL", "price_above", 300.0),
    ("MSFT", "price_below", 50.0),
    ("TSLA", "price_above", 400.0),
    ("AAPL", "price_below", 10.0),
];

/// Creates four alerts; the first is triggered and the last is paused. Returns their ids.
async fn create_four_alerts(env: &TestEnvironment) -> Vec<String> {
    env.stocks(&["AAPL", "MSFT", "TSLA"]).await;
    for symbol in ["AAPL", "MSFT", "TSLA"] {
        env.quote(symbol, 100.0).await;
    }
    let mut ids = Vec::new();
    for (symbol, condition, threshold) in ALERTS {
        let body = json!({"symbol": symbol, "condition": condition, "threshold": threshold});
        ids.push(env.operator.post("/alerts", &body).await.expect_ok(201).id());
    }
    let _ = env
        .operator
        .post_empty(&format!("/alerts/{}/pause", ids[3]))
        .await
        .expect_ok(200);
    env.quote("AAPL", 300.0).await;
    ids
}

/// Returns the listed alerts as indexes into `ids`.
async fn listed_indexes(operator: &ApiClient, ids: &[String], query: &str) -> Vec<usize> {
    let response = operator.get(&format!("/alerts?{query}")).await.expect_ok(200);
    let index_of = |alert: &Value| ids.iter().position(|id| alert["id"] == id.as_str()).unwrap();
    let indexes: Vec<_> = response.items().iter().map(index_of).collect();
    assert_eq!(
        response.body["meta"]["pagination"]["total"],
        indexes.len(),
        "{response}"
    );
    indexes
}

async fn page_size_is_10_by_default_newest_first(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    env.stock_at("AAPL", 100.0).await;
    let mut ids = Vec::new();
    for threshold in 200..212 {
        let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold});
        ids.push(json!(env.operator.post("/alerts", &body).await.expect_ok(201).id()));
    }
    ids.reverse();
    let page = async |query: &str| {
        let response = env.operator.get(&format!("/alerts{query}")).await.expect_ok(200);
        let ids: Vec<_> = response.items().iter().map(|alert| alert["id"].clone()).collect();
        (ids, response.body["meta"]["pagination"].clone())
    };
    let pagination =
        |page: i32, limit: i32, pages: i32| json!({"page": page, "limit": limit, "total": 12, "total_pages": pages});
    assert_eq!(page("").await, (ids[..10].to_vec(), pagination(1, 10, 2)));
    assert_eq!(page("?page=2").await, (ids[10..].to_vec(), pagination(2, 10, 2)));
    assert_eq!(page("?page=3&limit=5").await, (ids[10..].to_vec(), pagination(3, 5, 3)));
    assert_eq!(page("?page=1000000").await, (vec![], pagination(1_000_000, 10, 2)));
}

async fn page_size_is_100_at_most(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let response = env.operator.get("/alerts?limit=5000").await.expect_ok(200);
    let expected = json!({"page": 1, "limit": 100, "total": 0, "total_pages": 0});
    assert_eq!(response.body["meta"]["pagination"], expected);
}

async fn filters_select_matching_alerts(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let ids = create_four_alerts(&env).await;
    for (query, expected) in [
        ("status=active", vec![2, 1]),
        ("status=paused", vec![3]),
        ("status=triggered", vec![0]),
        ("status=inactive", vec![]),
        ("condition=price_above", vec![2, 0]),
        ("symbol=AAPL", vec![3, 0]),
        ("symbol=aapl", vec![3, 0]),
        ("symbol=AAP", vec![]),
        ("search=aap", vec![3, 0]),
        ("search=Company", vec![3, 2, 1, 0]),
        ("search=msft%20comp", vec![1]),
        ("search=nothing", vec![]),
        ("symbol=AAPL&status=paused&condition=price_below", vec![3]),
    ] {
        assert_eq!(listed_indexes(&env.operator, &ids, query).await, expected, "{query}");
    }
}

async fn list_can_be_sorted_by_every_field(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let ids = create_four_alerts(&env).await;
    for (query, expected) in [
        ("sort_field=created_at&sort_direction=asc", vec![0, 1, 2, 3]),
        ("sort_field=created_at", vec![3, 2, 1, 0]),
        ("sort_direction=asc", vec![0, 1, 2, 3]),
        ("sort_field=threshold&sort_direction=asc", vec![3, 1, 0, 2]),
        ("sort_field=threshold", vec![2, 0, 1, 3]),
    ] {
        assert_eq!(listed_indexes(&env.operator, &ids, query).await, expected, "{query}");
    }
    for field in ["symbol", "condition", "status", "triggered_at", "initial_price"] {
        for direction in ["asc", "desc"] {
            let query = format!("sort_field={field}&sort_direction={direction}");
            let response = env.operator.get(&format!("/alerts?{query}")).await.expect_ok(200);
            let values: Vec<_> = response.items().iter().map(|alert| alert[field].to_string()).collect();
            let mut sorted: Vec<_> = values.iter().filter(|value| *value != "null").cloned().collect();
            let shown = sorted.clone();
            sorted.sort();
            if direction == "desc" {
                sorted.reverse();
            }
            assert_eq!(shown, sorted, "{query}");
            assert_eq!(values.len(), 4);
        }
    }
}

async fn minimal_list_has_five_fields(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let _ = create_four_alerts(&env).await;
    let response = env.operator.get("/alerts?minimal=true").await.expect_ok(200);
    for alert in response.items() {
        let fields: Vec<_> = alert.as_object().unwrap().keys().collect();
        assert_eq!(
            fields,
            ["id", "symbol", "condition", "threshold", "status"],
            "{response}"
        );
    }
    let full = env.operator.get("/alerts?minimal=false").await.expect_ok(200);
    assert!(full.items()[0].get("created_at").is_some());
}

async fn extended_list_adds_stock_and_distance(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let ids = create_four_alerts(&env).await;
    let response = env.operator.get("/alerts?extended=true").await.expect_ok(200);
    let msft = response
        .items()
        .iter()
        .find(|alert| alert["id"] == ids[1].as_str())
        .unwrap();
    for field in ["last_evaluated_at", "last_metric_value", "distance_pct", "evaluation"] {
        assert!(msft.get(field).is_some(), "no {field}: {msft}");
    }
    assert_eq!(msft["stock"]["name"], "MSFT Company");
    assert_eq!(msft["stock"]["last_price"], 100);
    assert_eq!(msft["stock"], msft["stocks"]);
    let plain = env.operator.get("/alerts").await.expect_ok(200);
    assert_eq!(plain.items()[0].get("last_metric_value"), None, "{plain}");
}

async fn invalid_query_parameter_is_422_with_field_name(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    for (query, field) in [
        ("page=0", "page"),
        ("page=-1", "page"),
        ("page=1.5", "page"),
        ("page=one", "page"),
        ("page=99999999999999999999", "page"),
        ("limit=0", "limit"),
        ("limit=-5", "limit"),
        ("limit=ten", "limit"),
        ("status=asleep", "status"),
        ("condition=to_the_moon", "condition"),
        ("sort_field=password_hash", "sort_field"),
        ("sort_direction=sideways", "sort_direction"),
    ] {
        let _ = env
            .operator
            .get(&format!("/alerts?{query}"))
            .await
            .expect_field_error(field);
    }
}

async fn unknown_query_parameters_are_ignored(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let _ = env
        .operator
        .get("/alerts?colour=red&utm_source=mail")
        .await
        .expect_ok(200);
}

async fn search_treats_wildcards_as_literal_text(setup: ServiceSetup) {
    let env = setup.start_environment().await;
    let ids = create_four_alerts(&env).await;
    for query in [
        "search=%25",
        "search=_",
        "search=A%25",
        "search=%27%20OR%201%3D1--",
        "search=%5C",
    ] {
        assert_eq!(
            listed_indexes(&env.operator, &ids, query).await,
            Vec::<usize>::new(),
            "{query}"
        );
    }
}
