//! The phrases of the options and of the channel.

/// An option that a phrase sets, or the channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TextOption {
    Within,
    Repeat,
    MaxFirings,
    Cooldown,
    CooldownRefire,
    Rearm,
    Hold,
    ExpiresAt,
    NotifyOnExpiry,
    SnoozedUntil,
    Session,
    Trigger,
    Base,
    Channel,
}

impl TextOption {
    const ALL: [Self; 14] = [
        Self::Within,
        Self::Repeat,
        Self::MaxFirings,
        Self::Cooldown,
        Self::CooldownRefire,
        Self::Rearm,
        Self::Hold,
        Self::ExpiresAt,
        Self::NotifyOnExpiry,
        Self::SnoozedUntil,
        Self::Session,
        Self::Trigger,
        Self::Base,
        Self::Channel,
    ];

    /// Returns the field of a create request.
    pub(super) const fn field(self) -> &'static str {
        match self {
            Self::Within => "parameters.within",
            Self::Repeat => "options.repeat",
            Self::MaxFirings => "options.max_firings",
            Self::Cooldown => "options.cooldown",
            Self::CooldownRefire => "options.cooldown_refire",
            Self::Rearm => "options.rearm",
            Self::Hold => "options.hold",
            Self::ExpiresAt => "options.expires_at",
            Self::NotifyOnExpiry => "options.notify_on_expiry",
            Self::SnoozedUntil => "options.snoozed_until",
            Self::Session => "options.session",
            Self::Trigger => "options.trigger",
            Self::Base => "options.base",
            Self::Channel => "notification",
        }
    }

    /// Returns the option of an invalid field, such as `options.rearm.at`.
    pub(super) fn of_field(field: &str) -> Option<Self> {
        let is_of = |option: &Self| {
            field
                .strip_prefix(option.field())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        Self::ALL.into_iter().find(is_of)
    }
}

/// The value of a phrase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PhraseValue {
    /// A fixed text.
    Fixed(&'static str),
    /// True.
    Flag,
    /// A word that follows, which the option's reader checks: a duration, a date or a date-time.
    Word(&'static str),
    /// A number of firings, followed by `times`.
    Times,
    /// A level at which the alert is armed again.
    Level,
    /// A percentage of the level, `2%` or `2 percent`.
    Percent,
    /// The name of a channel.
    Channel,
}

/// A phrase: its words, the option that it sets, and its value.
pub(super) type Phrase = (&'static [&'static str], TextOption, PhraseValue);

/// The words that follow phrases with a duration, a date or a date-time.
pub(super) const DURATION: &str = "a duration such as 15m";
pub(super) const DATE: &str = "a date such as 2030-01-31";
pub(super) const DATE_TIME: &str = "a date-time such as 2030-01-31T09:30:00-05:00";

/// The phrases. No phrase begins with the words of an earlier one. The first phrase of a value is the one that is written.
pub(super) const PHRASES: &[Phrase] = &[
    (
        &["within", "the", "session"],
        TextOption::Within,
        PhraseValue::Fixed("session"),
    ),
    (&["within"], TextOption::Within, PhraseValue::Word(DURATION)),
    (&["each", "time"], TextOption::Repeat, PhraseValue::Fixed("each_time")),
    (&["every", "time"], TextOption::Repeat, PhraseValue::Fixed("each_time")),
    (
        &["once", "per", "day"],
        TextOption::Repeat,
        PhraseValue::Fixed("once_per_day"),
    ),
    (
        &["once", "a", "day"],
        TextOption::Repeat,
        PhraseValue::Fixed("once_per_day"),
    ),
    (&["once"], TextOption::Repeat, PhraseValue::Fixed("once")),
    (&["up", "to"], TextOption::MaxFirings, PhraseValue::Times),
    (&["cooldown"], TextOption::Cooldown, PhraseValue::Word(DURATION)),
    (
        &["at", "most", "every"],
        TextOption::Cooldown,
        PhraseValue::Word(DURATION),
    ),
    (
        &["again", "after", "cooldown"],
        TextOption::CooldownRefire,
        PhraseValue::Flag,
    ),
    (&["re-arm", "at"], TextOption::Rearm, PhraseValue::Level),
    (&["rearm", "at"], TextOption::Rearm, PhraseValue::Level),
    (&["re-arm", "after"], TextOption::Rearm, PhraseValue::Percent),
    (&["rearm", "after"], TextOption::Rearm, PhraseValue::Percent),
    (&["for"], TextOption::Hold, PhraseValue::Word(DURATION)),
    (&["holding"], TextOption::Hold, PhraseValue::Word(DURATION)),
    (&["until"], TextOption::ExpiresAt, PhraseValue::Word(DATE)),
    (
        &["notify", "on", "expiry"],
        TextOption::NotifyOnExpiry,
        PhraseValue::Flag,
    ),
    (
        &["snoozed", "until"],
        TextOption::SnoozedUntil,
        PhraseValue::Word(DATE_TIME),
    ),
    (
        &["in", "extended", "hours"],
        TextOption::Session,
        PhraseValue::Fixed("extended"),
    ),
    (
        &["in", "regular", "hours"],
        TextOption::Session,
        PhraseValue::Fixed("regular"),
    ),
    (&["on", "the", "last"], TextOption::Trigger, PhraseValue::Fixed("last")),
    (
        &["on", "two", "lasts"],
        TextOption::Trigger,
        PhraseValue::Fixed("two_lasts"),
    ),
    (&["on", "the", "bid"], TextOption::Trigger, PhraseValue::Fixed("bid")),
    (&["on", "the", "ask"], TextOption::Trigger, PhraseValue::Fixed("ask")),
    (&["on", "the", "mid"], TextOption::Trigger, PhraseValue::Fixed("mid")),
    (
        &["on", "the", "close"],
        TextOption::Trigger,
        PhraseValue::Fixed("close"),
    ),
    (
        &["at", "the", "close"],
        TextOption::Trigger,
        PhraseValue::Fixed("close"),
    ),
    (&["since", "creation"], TextOption::Base, PhraseValue::Fixed("creation")),
    (
        &["since", "the", "previous", "close"],
        TextOption::Base,
        PhraseValue::Fixed("prev_close"),
    ),
    (&["since", "the", "open"], TextOption::Base, PhraseValue::Fixed("open")),
    (&["to"], TextOption::Channel, PhraseValue::Channel),
    (&["by"], TextOption::Channel, PhraseValue::Channel),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_phrase_hides_a_later_one() {
        for (place, (words, ..)) in PHRASES.iter().enumerate() {
            for (later, ..) in &PHRASES[place + 1..] {
                assert!(!later.starts_with(words), "{later:?}");
            }
        }
    }

    #[test]
    fn nested_fields_belong_to_their_option() {
        assert_eq!(TextOption::of_field("options.rearm.at"), Some(TextOption::Rearm));
        assert_eq!(
            TextOption::of_field("options.cooldown_refire"),
            Some(TextOption::CooldownRefire)
        );
        assert_eq!(TextOption::of_field("options"), None);
    }
}
