//! Whether an alert fires at once, asked of the engine itself.

use alerts::engine::{Decision, Engine, Event, Quote, Settings, Verdict};
use alerts::{Alert, AlertId, Revision, Status};
use analyst::{Proposal, Subject};
use uuid::Uuid;

use super::Stage;

/// The alert that would be created of a proposal.
pub(crate) fn as_alert(proposal: &Proposal, subject: &Subject<'_>, id: u128) -> Alert {
    let new = proposal.alert.clone();
    Alert {
        id: AlertId(Uuid::from_u128(id)),
        revision: Revision(1),
        symbol: new.symbol,
        condition: new.condition,
        notification: new.notification,
        parameters: new.parameters,
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

/// The proposals that an engine with this history fires at the current price, once they are armed.
pub(crate) fn fires_at_once(stage: &Stage, subject: &Subject<'_>, proposals: &[Proposal]) -> Vec<Proposal> {
    let mut engine = Engine::new(stage.calendar.clone(), Settings::default());
    let mut out = Vec::new();
    for &bar in &stage.bars {
        let symbol = stage.symbol;
        engine.process(Event::Bar { symbol, bar }, stage.now, &mut out).unwrap();
    }
    let (symbol, dates, dividends) = (stage.symbol, &stage.earnings, &stage.dividends);
    engine
        .process(Event::Earnings { symbol, dates }, stage.now, &mut out)
        .unwrap();
    engine
        .process(Event::Dividends { symbol, dividends }, stage.now, &mut out)
        .unwrap();
    fired(&mut engine, subject, proposals)
}

/// The same of an engine that knows the stock already; it forgets the alerts again.
///
/// They are judged in both orders in which a service comes to it: by the next observation after they were armed, and by
/// one that was there before.
pub(crate) fn fired(engine: &mut Engine, subject: &Subject<'_>, proposals: &[Proposal]) -> Vec<Proposal> {
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
            // Which is refused for those that fired: they are gone already.
            let _ = engine.process(Event::Disarmed(alert.id), now, &mut out);
        }
    }
    let is_fired = |alert: &Alert| {
        let fires =
            |decision: &Decision| decision.alert == alert.id && matches!(decision.verdict, Verdict::Fire { .. });
        out.iter().any(fires)
    };
    proposals
        .iter()
        .zip(&all)
        .filter(|(_, alert)| is_fired(alert))
        .map(|(proposal, _)| proposal.clone())
        .collect()
}
