//! Initial prices that are missing or outdated.

use super::*;

#[test]
fn update_sets_a_missing_initial_price_and_percent_changes_require_it() {
    let mut alert = price_alert(Status::Active);
    alert.initial_price = None;
    let change = AlertChange {
        condition: condition("price_change_up", &json!({"threshold": 5})),
        ..change_of(&alert)
    };
    for unavailable in [PriceAvailability::Unknown, PriceAvailability::Outdated] {
        let rejected = transition::update(&alert, change.clone(), unavailable, later());
        assert_eq!(rejected, Err(TransitionError::NoPrice));
        assert!(transition::update(&alert, change_of(&alert), unavailable, later()).is_ok());
    }
    for (start, expected) in [(PriceAvailability::Awaited, None), (current("205"), price("205"))] {
        let done = transition::update(&alert, change.clone(), start, later());
        assert_eq!(after(&alert, done, HistoryAction::Updated).initial_price, expected);
    }
    alert.status = Status::Paused;
    let done = transition::update(&alert, change, PriceAvailability::Unknown, later());
    assert_eq!(after(&alert, done, HistoryAction::Updated).initial_price, None);
}

#[test]
fn outdated_price_is_never_an_initial_price() {
    let (level, mut percent) = (
        price_alert(Status::Paused),
        alert("price_change_up", &json!({"threshold": 5})),
    );
    percent.status = Status::Paused;
    let activated = |alert: &Alert, start| {
        let done = activate(alert, OwnerVerification::Verified, start, later())?;
        Ok(after(alert, Ok(done), HistoryAction::Reactivated).initial_price)
    };
    assert_eq!(activated(&level, PriceAvailability::Outdated), Ok(None));
    assert_eq!(
        activated(&percent, PriceAvailability::Outdated),
        Err(TransitionError::NoPrice)
    );
    for alert in [&level, &percent] {
        assert_eq!(activated(alert, PriceAvailability::Awaited), Ok(None));
        assert_eq!(
            activated(alert, PriceAvailability::Unknown),
            Err(TransitionError::NoPrice)
        );
        assert_eq!(activated(alert, current("205")), Ok(price("205")));
    }
}

#[test]
fn first_current_price_becomes_the_missing_initial_price() {
    let first = current_at("205", later());
    for (name, armed_at) in [("price_above", instant(NOW)), ("price_change_up", later())] {
        let mut before = alert(name, &json!({"threshold": 5}));
        before.initial_price = None;
        let Transition::Changed(changed) = transition::set_initial_price(&before, first, later()) else {
            panic!("nothing has changed")
        };
        let ChangedAlert { alert: filled, entry } = *changed;
        assert_eq!(entry.action, HistoryAction::Adjusted);
        // Only a percent change is evaluated differently from now on.
        assert_eq!(filled.revision == before.revision, name == "price_above");
        assert_eq!((filled.status, filled.initial_price), (Status::Active, price("205")));
        // A percent change is not evaluated against prices from before its initial price.
        assert_eq!(filled.armed_at, armed_at, "{name}");
        let unchanged = transition::set_initial_price(&filled, first, later());
        assert_eq!(unchanged, Transition::Unchanged);
        before.status = Status::Paused;
        let unchanged = transition::set_initial_price(&before, first, later());
        assert_eq!(unchanged, Transition::Unchanged);
    }
}
