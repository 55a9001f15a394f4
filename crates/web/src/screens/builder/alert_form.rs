//! The form of a new alert. Its inputs are named as the members of a create request: `symbol`, `parameters.when`, `options.repeat`.
//!
//! The inputs of a condition are those of its [`ConditionSpec`].

use alerts::condition::{ConditionFamily, ConditionKind, ConditionSpec, ParameterRule, ParameterSpec};
use alerts::options::{PercentBase, Repeat, SessionScope, TriggerPrice};
use alerts::{Channel, Intention};

use super::BuilderTarget;
use super::hints::{plain, threshold_hint};
use crate::form_state::FormState;
use crate::texts;
use crate::wording::in_words;

/// The input with the stocks: one, several, or those of the watchlist.
pub const STOCKS: &str = "stocks";
/// The value of [`STOCKS`] for the stock in [`SYMBOL`].
pub const ONE_STOCK: &str = "one";
/// The value of [`STOCKS`] for the stocks in [`SYMBOLS`].
pub const SEVERAL_STOCKS: &str = "several";
/// The value of [`STOCKS`] for the whole watchlist; the others are the names of intentions.
pub const WATCHLIST: &str = "all";
/// The input with the stock.
pub const SYMBOL: &str = "symbol";
/// The input with the stocks of an alert over several.
pub const SYMBOLS: &str = "scope.symbols";
/// The input with the name of the condition.
pub const CONDITION: &str = "condition";
/// The input with the threshold.
pub const THRESHOLD: &str = "threshold";
/// The input with the channel.
pub const CHANNEL: &str = "notification";
/// The condition of an empty form.
const FIRST_CONDITION: ConditionKind = ConditionKind::PriceBelow;

/// The options with their forms, in the order of the form.
const OPTIONS: [(&str, &str, OptionForm); 13] = [
    ("options.repeat", "option-repeat", OptionForm::Choice(repeats)),
    ("options.max_firings", "option-max-firings", OptionForm::Number),
    ("options.cooldown", "option-cooldown", OptionForm::Text("15m, 2h, 1d")),
    ("options.cooldown_refire", "option-cooldown-refire", OptionForm::Flag),
    ("options.rearm.at", "option-rearm-at", OptionForm::Number),
    ("options.rearm.percent", "option-rearm-percent", OptionForm::Number),
    ("options.hold", "option-hold", OptionForm::Text("15m, 2h, 1d")),
    (
        "options.expires_at",
        "option-expires-at",
        OptionForm::Text("2030-01-31"),
    ),
    ("options.notify_on_expiry", "option-notify-on-expiry", OptionForm::Flag),
    (
        "options.snoozed_until",
        "option-snoozed-until",
        OptionForm::Text("2030-01-31T09:30:00-05:00"),
    ),
    ("options.session", "option-session", OptionForm::Choice(sessions)),
    ("options.trigger", "option-trigger", OptionForm::Choice(triggers)),
    ("options.base", "option-base", OptionForm::Choice(bases)),
];

#[derive(Clone, Copy)]
enum OptionForm {
    Choice(fn() -> Vec<&'static str>),
    Number,
    /// With an example.
    Text(&'static str),
    Flag,
}

fn repeats() -> Vec<&'static str> {
    Repeat::ALL.iter().map(|repeat| repeat.name()).collect()
}

fn sessions() -> Vec<&'static str> {
    SessionScope::ALL.iter().map(|session| session.name()).collect()
}

fn triggers() -> Vec<&'static str> {
    TriggerPrice::ALL.iter().map(|trigger| trigger.name()).collect()
}

fn bases() -> Vec<&'static str> {
    PercentBase::ALL.iter().map(|base| base.name()).collect()
}

/// The values of a form, and the errors at its inputs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AlertForm {
    /// The values by input, and the errors.
    pub state: FormState,
    /// The alert that the form is for.
    pub target: BuilderTarget,
}

/// An input with its label.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AlertInput {
    /// The name, which is also the id of the element.
    pub name: String,
    /// The label.
    pub label: String,
    /// The allowed values, or the meaning.
    pub hint: Option<String>,
    /// The value.
    pub value: String,
    /// The error.
    pub error: Option<String>,
    /// How it is entered.
    pub control: Control,
}

/// The conditions of a family: its text, then name, label and whether it is selected.
type ConditionGroup = (String, Vec<(&'static str, &'static str, bool)>);

/// How a value is entered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Control {
    /// As a text.
    Text,
    /// As a long text.
    LongText,
    /// As a number.
    Number,
    /// As a choice of values with their labels.
    Choice(Vec<(String, String)>),
    /// As a checkbox.
    Flag,
}

impl AlertForm {
    fn value(&self, name: &str) -> &str {
        self.state.value(name, "")
    }

    /// Returns the kind of the condition.
    #[must_use]
    pub fn condition(&self) -> ConditionKind {
        ConditionKind::from_name(self.value(CONDITION)).unwrap_or(FIRST_CONDITION)
    }

    /// Returns the stocks: a value of [`STOCKS`].
    fn stocks(&self) -> &str {
        match self.value(STOCKS) {
            "" => ONE_STOCK,
            stocks => stocks,
        }
    }

    /// Returns which inputs the form has: they depend on the condition and on the stocks.
    #[must_use]
    pub fn shape(&self) -> String {
        format!("{} {}", self.condition(), self.stocks())
    }

    /// Returns the error of the condition.
    pub(super) fn condition_error(&self) -> Option<&str> {
        self.state.error_of(CONDITION)
    }

    /// Returns the conditions by family: name, label, whether it is selected.
    pub(super) fn families(&self) -> Vec<ConditionGroup> {
        let selected = self.condition();
        let families = FAMILIES.iter().map(|(text, includes)| {
            let kinds = ConditionKind::ALL.iter().filter(|kind| includes(**kind));
            let kinds = kinds.map(|kind| (kind.name(), kind.spec().label, *kind == selected));
            (texts::text(text), kinds.collect())
        });
        families.collect()
    }

    /// Returns the inputs for the stocks.
    pub(super) fn stock_inputs(&self) -> Vec<AlertInput> {
        if matches!(self.target, BuilderTarget::Present { is_scoped: false, .. }) {
            return Vec::new();
        }
        let intentions = [Intention::Buy, Intention::Sell].map(|intention| intention.name());
        let choices = [
            (ONE_STOCK, "stocks-one"),
            (SEVERAL_STOCKS, "stocks-several"),
            (WATCHLIST, "stocks-watchlist"),
            (intentions[0], "stocks-watchlist-buy"),
            (intentions[1], "stocks-watchlist-sell"),
        ];
        let is_new = self.target == BuilderTarget::New;
        let choices = choices.into_iter().filter(|(value, _)| is_new || *value != ONE_STOCK);
        let choices = choices.map(|(value, text)| (value.to_owned(), texts::text(text)));
        let mut stocks = self.input(STOCKS, texts::text("form-stocks"), Control::Choice(choices.collect()));
        stocks.value = self.stocks().to_owned();
        stocks.error = self
            .state
            .error_of("scope")
            .or(self.state.error_of("scope.watchlist"))
            .map(str::to_owned);
        let which = match self.stocks() {
            ONE_STOCK => Some((SYMBOL, "form-symbol")),
            SEVERAL_STOCKS => Some((SYMBOLS, "form-symbols")),
            _ => None,
        };
        let which = which.map(|(name, text)| self.input(name, texts::text(text), Control::Text));
        [stocks].into_iter().chain(which).collect()
    }

    /// Returns the stock of an alert that keeps it.
    pub(super) fn fixed_symbol(&self) -> Option<&str> {
        match self.target {
            BuilderTarget::Present { is_scoped: false, .. } => Some(self.value(SYMBOL)),
            BuilderTarget::Present { is_scoped: true, .. } | BuilderTarget::New => None,
        }
    }

    /// Returns the inputs of the condition.
    pub(super) fn condition_inputs(&self) -> Vec<AlertInput> {
        let spec: &ConditionSpec = self.condition().spec();
        let threshold = spec.request.threshold.map(|threshold| AlertInput {
            hint: Some(threshold_hint(threshold.description, &threshold.range.to_string())),
            ..self.input(THRESHOLD, texts::text("form-threshold"), Control::Number)
        });
        let parameters = spec
            .request
            .parameters
            .iter()
            .map(|parameter| self.parameter(parameter));
        threshold.into_iter().chain(parameters).collect()
    }

    fn parameter(&self, parameter: &ParameterSpec) -> AlertInput {
        let control = match parameter.rule {
            ParameterRule::Word(words, _) => choice(parameter.is_required, words),
            ParameterRule::Flag => choice(parameter.is_required, &["true", "false"]),
            ParameterRule::Number(_) => Control::Number,
            ParameterRule::Note | ParameterRule::Expression => Control::LongText,
            ParameterRule::Date | ParameterRule::DateTime | ParameterRule::Time | ParameterRule::Within => {
                Control::Text
            }
        };
        let label = match parameter.rule {
            ParameterRule::Expression => texts::text("form-expression"),
            _ => in_words(parameter.name),
        };
        let hint = match parameter.rule {
            ParameterRule::Expression => texts::text("form-expression-hint"),
            _ => plain(parameter.description),
        };
        AlertInput {
            hint: Some(hint),
            ..self.input(&format!("parameters.{}", parameter.name), label, control)
        }
    }

    /// Returns the inputs of the options.
    pub(super) fn option_inputs(&self) -> Vec<AlertInput> {
        let inputs = OPTIONS.iter().map(|(name, text, form)| {
            let (control, hint) = match form {
                OptionForm::Choice(names) => (choice(true, &names()), None),
                OptionForm::Number => (Control::Number, None),
                OptionForm::Text(example) => (Control::Text, Some((*example).to_owned())),
                OptionForm::Flag => (Control::Flag, None),
            };
            let mut input = self.input(name, texts::text(text), control);
            input.hint = hint;
            if name.starts_with("options.rearm.") && input.error.is_none() {
                input.error = self.state.error_of("options.rearm").map(str::to_owned);
            }
            input
        });
        inputs.collect()
    }

    /// Returns whether an option is set or refused.
    pub(super) fn has_options(&self) -> bool {
        let is_option = |name: &String| name.starts_with("options.");
        let mut set = self.state.values.iter().filter(|(_, value)| !value.is_empty());
        set.any(|(name, value)| is_option(name) && !["once", "last", "creation"].contains(&value.as_str()))
            || self.state.errors.keys().any(is_option)
    }

    pub(super) fn channel_input(&self) -> AlertInput {
        let names: Vec<_> = Channel::ALL.iter().map(|channel| channel.name()).collect();
        self.input(CHANNEL, texts::text("form-channel"), choice(true, &names))
    }

    fn input(&self, name: &str, label: String, control: Control) -> AlertInput {
        AlertInput {
            name: name.to_owned(),
            label,
            hint: None,
            value: self.value(name).to_owned(),
            error: self.state.error_of(name).map(str::to_owned),
            control,
        }
    }

    /// Returns whether the form has an input with this name.
    #[must_use]
    pub fn has_input(&self, name: &str) -> bool {
        let inputs = [
            self.stock_inputs(),
            self.condition_inputs(),
            self.option_inputs(),
            vec![self.channel_input()],
        ];
        name == CONDITION || inputs.concat().iter().any(|input| input.name == name)
    }
}

impl AlertInput {
    /// Returns the attributes that connect the element with its hint and its error.
    pub(super) fn description(&self) -> String {
        let hint = self.hint.as_ref().map(|_| format!("{}-hint", self.name));
        let error = self.error.as_ref().map(|_| format!("{}-error", self.name));
        let ids: Vec<String> = hint.into_iter().chain(error).collect();
        let invalid = if self.error.is_some() {
            r#" aria-invalid="true""#
        } else {
            ""
        };
        match ids.is_empty() {
            true => String::new(),
            false => format!(r#" aria-describedby="{}"{invalid}"#, ids.join(" ")),
        }
    }
}

/// The families of conditions with their texts. An expression is of a family of its own.
type Family = (&'static str, fn(ConditionKind) -> bool);
const FAMILIES: [Family; 8] = [
    ("family-price", |kind| is_of(kind, ConditionFamily::Price)),
    ("family-technical", |kind| is_of(kind, ConditionFamily::Technical)),
    ("family-volume", |kind| is_of(kind, ConditionFamily::Volume)),
    ("family-fundamental", |kind| is_of(kind, ConditionFamily::Fundamental)),
    ("family-alternative", |kind| {
        is_of(kind, ConditionFamily::AlternativeData)
    }),
    ("family-time", |kind| is_of(kind, ConditionFamily::Time)),
    ("family-dividend", |kind| is_of(kind, ConditionFamily::Dividend)),
    ("family-expression", |kind| kind == ConditionKind::Expression),
];

fn is_of(kind: ConditionKind, family: ConditionFamily) -> bool {
    kind != ConditionKind::Expression && kind.family() == family
}

fn choice(is_required: bool, values: &[&str]) -> Control {
    let default = (!is_required).then(|| (String::new(), texts::text("form-default")));
    let values = values.iter().map(|value| ((*value).to_owned(), in_words(value)));
    Control::Choice(default.into_iter().chain(values).collect())
}

/// Returns the label of the input that sets a member of the API.
pub(crate) fn label_of(name: &str) -> String {
    let option = OPTIONS.iter().find(|(option, ..)| *option == name);
    let text = match name {
        "options" => "form-options",
        "options.rearm" => "option-rearm-at",
        "parameters.when" => "form-expression",
        STOCKS | "scope" => "form-stocks",
        SYMBOLS => "stocks",
        SYMBOL => "form-symbol",
        CONDITION => "form-condition",
        THRESHOLD => "form-threshold",
        CHANNEL => "form-channel",
        _ => match option {
            Some((_, text, _)) => text,
            None => return in_words(name.rsplit('.').next().unwrap_or(name)),
        },
    };
    texts::text(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_condition_is_in_one_family_and_has_inputs_for_its_request() {
        let form = AlertForm::default();
        let listed: Vec<_> = form.families().into_iter().flat_map(|(_, kinds)| kinds).collect();
        assert_eq!(listed.len(), ConditionKind::ALL.len());
        for kind in ConditionKind::ALL {
            assert_eq!(
                listed.iter().filter(|(name, ..)| *name == kind.name()).count(),
                1,
                "{kind}"
            );
        }
    }
}
