//! A crash between the commits of a late evaluation.

use super::*;

/// Returns the gaps of a scenario with a gap of all stocks, the engine before them and the stored alerts.
fn before_the_gap(scenario: &Scenario) -> (Vec<Gap>, Vec<Alert>) {
    let missed = scenario.missed();
    let stream = scenario.stream();
    let mut live = LiveEngine {
        engine: scenario.engine(),
        decisions: Vec::new(),
        alerts: HashMap::new(),
        facts: FactTimeline::new(facts()),
    };
    for (_, alert) in scenario.alerts(&stream) {
        live.alerts.insert(alert.id, alert.clone());
        live.process(Event::Armed(&alert), alert.armed_at);
    }
    for quote in &stream[..missed.range.start] {
        live.observe(quote);
    }
    let gaps = live.gaps(&missed.quotes(scenario));
    let alerts = live.active_alerts(&gaps);
    (gaps, alerts)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn crash_between_commits_neither_loses_nor_doubles_a_firing(scenario in scenarios(), committed in 0_usize..40) {
        let (gaps, alerts) = before_the_gap(&scenario);
        let first = LateDecisions::of(evaluate(&gaps, alerts.clone(), end_of_scenario()).decisions);
        let expected = firings(first.in_order());
        let committed = &first.firings[..committed.min(first.firings.len())];
        let mut stored: HashMap<AlertId, Alert> = alerts.into_iter().map(|alert| (alert.id, alert)).collect();
        for decision in committed {
            if !store(&mut stored, decision) {
                stored.remove(&decision.alert);
            }
        }
        // The observations were not committed, so they are missed again.
        let again = evaluate(&gaps, stored.into_values().collect(), end_of_scenario());
        let mut fired = firings(committed);
        fired.extend(firings(&again.decisions));
        fired.sort_unstable();
        prop_assert_eq!(fired, expected);
    }
}
