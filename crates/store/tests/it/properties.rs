//! Properties of every alert.

use alerts::AlertId;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Number, Value, json};
use store::model::StoredAlert;
use testkit::on_both_databases;

use crate::support::{add, alert_of, asked, now, uuid, with_accounts};

fn numbers() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("not of JSON", |number| Number::from_f64(number).map(Value::from)),
        prop::sample::select(vec![
            json!(0.1),
            json!(1.0),
            json!(-0.0),
            json!(1e300),
            json!(5e-324),
            json!(0.30000000000000004)
        ]),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        numbers(),
        ".{0,12}".prop_map(Value::from)
    ];
    plain.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,6}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Parameters with keys in any order.
fn parameters() -> impl Strategy<Value = Option<Map<String, Value>>> {
    let members = prop::collection::vec((".{0,8}", values()), 0..6);
    prop::option::of(members.prop_map(|members| members.into_iter().collect()))
}

on_both_databases! {
    async fn parameters_are_read_back_unchanged(database) {
        let store = with_accounts(database, 1).await;
        let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
        let strategy = prop::collection::vec(parameters(), 64);
        for round in 0..4 {
            let drawn = strategy.new_tree(&mut runner).unwrap().current();
            let mut alerts: Vec<StoredAlert> = Vec::new();
            for (number, parameters) in (1_u128..).zip(drawn) {
                let mut alert = alert_of(1, round * 1_000 + number, asked("AAPL", "new_high", &json!({})), 0);
                alert.alert.parameters = parameters;
                add(&store, &alert).await;
                alerts.push(alert);
            }
            for alert in alerts {
                let kept = now(&store, &alert).await.unwrap();
                let text = |alert: &StoredAlert| serde_json::to_string(&alert.alert.parameters).unwrap();
                assert_eq!(text(&kept), text(&alert));
                assert_eq!(kept, alert);
            }
        }
    }

    async fn each_of_the_24_conditions_is_read_back(database) {
        let store = with_accounts(database, 1).await;
        let bodies = [
            ("price_above", json!({"threshold": 0.000001})),
            ("price_below", json!({"threshold": 1_000_000_000})),
            ("price_change_up", json!({"threshold": 5})),
            ("price_change_down", json!({"threshold": 100})),
            ("new_high", json!({})),
            ("new_low", json!({})),
            ("ma_crossover_golden", json!({})),
            ("ma_crossover_death", json!({})),
            ("ma_touch_above", json!({"threshold": 2})),
            ("ma_touch_below", json!({"threshold": 400})),
            ("rsi_limit", json!({"threshold": 0, "parameters": {"direction": "both"}})),
            ("volume_change", json!({"threshold": 100, "parameters": {"volumeBaseline": "ma100"}})),
            ("pe_ratio_below", json!({"threshold": 15})),
            ("pe_ratio_above", json!({"threshold": 15})),
            ("forward_pe_below", json!({"threshold": 15})),
            ("forward_pe_above", json!({"threshold": 15})),
            ("social_buzz", json!({"parameters": {"direction": "falling"}})),
            ("insider_transactions", json!({"threshold": 1, "parameters": {"minExecutives": 2, "windowDays": 30}})),
            ("reminder", json!({"parameters": {"date": "2024-09-02T10:11:12.345678Z"}})),
            ("daily_reminder", json!({"parameters": {"deliveryTime": "after_market_close"}})),
            (
                "expression",
                json!({"parameters": {"when": "price crosses above \"BF-B\".price", "within": "90m"}, "options": {"hold": "5m"}}),
            ),
            ("earnings_announcement", json!({"threshold": 0})),
            ("dividend_ex_date", json!({})),
            ("dividend_payment", json!({"parameters": {"shares": 1.5}})),
        ];
        assert_eq!(bodies.len(), alerts::ConditionKind::ALL.len());
        for (number, (condition, more)) in (1..).zip(bodies) {
            let mut alert = alert_of(1, number, asked("BRK.B", condition, &more), 0);
            alert.alert.id = AlertId(uuid(number));
            add(&store, &alert).await;
            assert_eq!(now(&store, &alert).await, Some(alert), "{condition}");
        }
    }
}
