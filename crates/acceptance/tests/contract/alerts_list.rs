//! `GET /alerts`

use acceptance::{Client, Setup, World, on_both_databases};
use serde_json::{Value, json};

on_both_databases![
    a_list_comes_in_pages_of_ten_newest_first,
    a_page_has_at_most_a_hundred,
    filters_leave_what_they_name,
    a_list_is_sorted_by_any_field,
    a_minimal_list_leaves_five_fields,
    an_extended_list_adds_the_stock_and_how_far_it_is,
    a_wrong_query_is_refused_by_its_name,
    unknown_query_parameters_are_ignored,
    what_is_searched_for_is_text_and_no_pattern,
];

const ALERTS: &[(&str, &str, f64)] = &[
    ("AAPL", "price_above", 300.0),
    ("MSFT", "price_below", 50.0),
    ("TSLA", "price_above", 400.0),
    ("AAPL", "price_below", 10.0),
];

/// Four alerts, the last one made paused, the first one triggered.
async fn four(world: &World) -> Vec<String> {
    world.stocks(&["AAPL", "MSFT", "TSLA"]).await;
    for symbol in ["AAPL", "MSFT", "TSLA"] {
        world.quote(symbol, 100.0).await;
    }
    let mut ids = Vec::new();
    for (symbol, condition, threshold) in ALERTS {
        let body = json!({"symbol": symbol, "condition": condition, "threshold": threshold});
        ids.push(world.me.post("/alerts", &body).await.ok(201).id());
    }
    let _ = world.me.post_empty(&format!("/alerts/{}/pause", ids[3])).await.ok(200);
    world.quote("AAPL", 300.0).await;
    ids
}

/// Which of the four come, by their places.
async fn listed(me: &Client, ids: &[String], query: &str) -> Vec<usize> {
    let answer = me.get(&format!("/alerts?{query}")).await.ok(200);
    let place = |alert: &Value| ids.iter().position(|id| alert["id"] == id.as_str()).unwrap();
    let places: Vec<_> = answer.items().iter().map(place).collect();
    assert_eq!(answer.body["meta"]["pagination"]["total"], places.len(), "{answer}");
    places
}

async fn a_list_comes_in_pages_of_ten_newest_first(setup: Setup) {
    let world = setup.world().await;
    world.stock_at("AAPL", 100.0).await;
    let mut ids = Vec::new();
    for threshold in 200..212 {
        let body = json!({"symbol": "AAPL", "condition": "price_above", "threshold": threshold});
        ids.push(json!(world.me.post("/alerts", &body).await.ok(201).id()));
    }
    ids.reverse();
    let page = async |query: &str| {
        let answer = world.me.get(&format!("/alerts{query}")).await.ok(200);
        let ids: Vec<_> = answer.items().iter().map(|alert| alert["id"].clone()).collect();
        (ids, answer.body["meta"]["pagination"].clone())
    };
    let shape =
        |page: i32, limit: i32, pages: i32| json!({"page": page, "limit": limit, "total": 12, "total_pages": pages});
    assert_eq!(page("").await, (ids[..10].to_vec(), shape(1, 10, 2)));
    assert_eq!(page("?page=2").await, (ids[10..].to_vec(), shape(2, 10, 2)));
    assert_eq!(page("?page=3&limit=5").await, (ids[10..].to_vec(), shape(3, 5, 3)));
    assert_eq!(page("?page=1000000").await, (vec![], shape(1_000_000, 10, 2)));
}

async fn a_page_has_at_most_a_hundred(setup: Setup) {
    let world = setup.world().await;
    let answer = world.me.get("/alerts?limit=5000").await.ok(200);
    let expected = json!({"page": 1, "limit": 100, "total": 0, "total_pages": 0});
    assert_eq!(answer.body["meta"]["pagination"], expected);
}

async fn filters_leave_what_they_name(setup: Setup) {
    let world = setup.world().await;
    let ids = four(&world).await;
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
        assert_eq!(listed(&world.me, &ids, query).await, expected, "{query}");
    }
}

async fn a_list_is_sorted_by_any_field(setup: Setup) {
    let world = setup.world().await;
    let ids = four(&world).await;
    for (query, expected) in [
        ("sort_field=created_at&sort_direction=asc", vec![0, 1, 2, 3]),
        ("sort_field=created_at", vec![3, 2, 1, 0]),
        ("sort_direction=asc", vec![0, 1, 2, 3]),
        ("sort_field=threshold&sort_direction=asc", vec![3, 1, 0, 2]),
        ("sort_field=threshold", vec![2, 0, 1, 3]),
    ] {
        assert_eq!(listed(&world.me, &ids, query).await, expected, "{query}");
    }
    for field in ["symbol", "condition", "status", "triggered_at", "initial_price"] {
        for direction in ["asc", "desc"] {
            let query = format!("sort_field={field}&sort_direction={direction}");
            let answer = world.me.get(&format!("/alerts?{query}")).await.ok(200);
            let values: Vec<_> = answer.items().iter().map(|alert| alert[field].to_string()).collect();
            let mut known: Vec<_> = values.iter().filter(|value| *value != "null").cloned().collect();
            let shown = known.clone();
            known.sort();
            if direction == "desc" {
                known.reverse();
            }
            assert_eq!(shown, known, "{query}");
            assert_eq!(values.len(), 4);
        }
    }
}

async fn a_minimal_list_leaves_five_fields(setup: Setup) {
    let world = setup.world().await;
    let _ = four(&world).await;
    let answer = world.me.get("/alerts?minimal=true").await.ok(200);
    for alert in answer.items() {
        let fields: Vec<_> = alert.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["id", "symbol", "condition", "threshold", "status"], "{answer}");
    }
    let whole = world.me.get("/alerts?minimal=false").await.ok(200);
    assert!(whole.items()[0].get("created_at").is_some());
}

async fn an_extended_list_adds_the_stock_and_how_far_it_is(setup: Setup) {
    let world = setup.world().await;
    let ids = four(&world).await;
    let answer = world.me.get("/alerts?extended=true").await.ok(200);
    let below = answer
        .items()
        .iter()
        .find(|alert| alert["id"] == ids[1].as_str())
        .unwrap();
    for field in ["last_evaluated_at", "last_metric_value", "distance_pct", "evaluation"] {
        assert!(below.get(field).is_some(), "no {field}: {below}");
    }
    assert_eq!(below["stock"]["name"], "MSFT Company");
    assert_eq!(below["stock"]["last_price"], 100);
    assert_eq!(below["stock"], below["stocks"]);
    let plain = world.me.get("/alerts").await.ok(200);
    assert_eq!(plain.items()[0].get("last_metric_value"), None, "{plain}");
}

async fn a_wrong_query_is_refused_by_its_name(setup: Setup) {
    let world = setup.world().await;
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
        let _ = world.me.get(&format!("/alerts?{query}")).await.wrong_field(field);
    }
}

async fn unknown_query_parameters_are_ignored(setup: Setup) {
    let world = setup.world().await;
    let _ = world.me.get("/alerts?colour=red&utm_source=mail").await.ok(200);
}

async fn what_is_searched_for_is_text_and_no_pattern(setup: Setup) {
    let world = setup.world().await;
    let ids = four(&world).await;
    for query in [
        "search=%25",
        "search=_",
        "search=A%25",
        "search=%27%20OR%201%3D1--",
        "search=%5C",
    ] {
        assert_eq!(listed(&world.me, &ids, query).await, Vec::<usize>::new(), "{query}");
    }
}
