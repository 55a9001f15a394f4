//! Checks with the engine whether an alert fires at once.

use alerts::engine::{AlertAction, Decision, Engine, EngineConfig, Event, Quote};
use alerts::{Alert, AlertId, Revision, Status};
use analyst::{AnalysisSubject, Proposal};
use uuid::Uuid;

use super::Fixture;

/// The alert that a proposal would create.
pub(crate) fn as_alert(proposal: &Proposal, subject: &AnalysisSubject<'_>, id: u128) -> Alert {
    let new = proposal.alert.clone();
    Alert {
        id: AlertId(Uuid::from_u128(id)),
        revision: Revision(1),
        symbol: new.symbol,
        condition: new.condition,
        notification: new.notification,
        parameters: new.parameters,
        note: None,
        tags: alerts::Tags::default(),
        options: alerts::options::AlertOptions::default(),
        routing: alerts::Routing::default(),
        lifecycle: None,
        status: Status::Active,
        initial_price: Some(subject.price),
        created_at: subject.context.now,
        armed_at: subject.context.now,
        threshold_set_at: subject.context.now,
        initial_price_set_at: subject.context.now,
        rsi_side: None,
        triggered_at: None,
    }
}

/// Returns the proposals that an engine with this history fires at the current price as soon as they are armed.
pub(crate) fn fires_at_once(fixture: &Fixture, subject: &AnalysisSubject<'_>, proposals: &[Proposal]) -> Vec<Proposal> {
    let mut engine = Engine::new(fixture.calendar.clone(), EngineConfig::default());
    let mut out = Vec::new();
    for &bar in &fixture.bars {
        let symbol = fixture.symbol;
        engine
            .process(Event::Bar { symbol, bar }, fixture.now, &mut out)
            .unwrap();
    }
    let (symbol, dates, dividends) = (fixture.symbol, &fixture.earnings, &fixture.dividends);
    engine
        .process(Event::Earnings { symbol, dates }, fixture.now, &mut out)
        .unwrap();
    engine
        .process(Event::Dividends { symbol, dividends }, fixture.now, &mut out)
        .unwrap();
    fired(&mut engine, subject, proposals)
}

/// Does the same with an engine that already knows the stock, and removes the alerts afterwards.
///
/// The alerts are evaluated in both possible orders: by the next observation after they are armed, and by one from
/// before.
pub(crate) fn fired(engine: &mut Engine, subject: &AnalysisSubject<'_>, proposals: &[Proposal]) -> Vec<Proposal> {
    let (mut out, now) = (Vec::new(), subject.context.now);
    let quote = Quote::new(engine.stock(subject.symbol), subject.price);
    engine.process(Event::Clock, now, &mut out).unwrap();
    let all: Vec<_> = (0_u128..)
        .zip(proposals)
        .map(|(id, proposal)| as_alert(proposal, subject, id))
        .collect();
    for _ in 0..2 {
        all.iter()
            .for_each(|alert| engine.process(Event::Armed(alert), now, &mut out).unwrap());
        engine.process(Event::Clock, now, &mut out).unwrap();
        engine.process(Event::Snapshot(&[quote]), now, &mut out).unwrap();
        engine.process(Event::Evaluate, now, &mut out).unwrap();
        for alert in &all {
            // Fails for alerts that fired: they are gone already.
            let _ = engine.process(Event::Disarmed(alert.id), now, &mut out);
        }
    }
    let is_fired = |alert: &Alert| {
        let fires =
            |decision: &Decision| decision.alert == alert.id && matches!(decision.action, AlertAction::Fire { .. });
        out.iter().any(fires)
    };
    proposals
        .iter()
        .zip(&all)
        .filter(|(_, alert)| is_fired(alert))
        .map(|(proposal, _)| proposal.clone())
        .collect()
}
