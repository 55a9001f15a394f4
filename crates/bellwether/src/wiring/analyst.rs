//! Converts the analyst's settings.

use service::analyst::{Budget, Key, ModelSettings, Settings, TokenLimit};

use crate::settings::{AnalystConfig, AnalystKind, TokenLimitName};

pub(super) fn settings(analyst: &AnalystConfig) -> Settings {
    // The settings require a model for this kind of analyst.
    let model = match (analyst.kind, &analyst.model) {
        (AnalystKind::Openai, Some(name)) => Some(ModelSettings {
            base_url: analyst.base_url.to_string(),
            name: name.clone(),
            key: analyst.api_key.as_ref().and_then(|key| Key::new(key.expose())),
            timeout: analyst.timeout.unsigned_abs(),
            tokens: match analyst.max_tokens_name {
                TokenLimitName::MaxCompletionTokens => TokenLimit::MaxCompletionTokens(analyst.max_tokens.get()),
                TokenLimitName::MaxTokens => TokenLimit::MaxTokens(analyst.max_tokens.get()),
            },
            budget: Budget {
                in_all: analyst.calls_per_day.get(),
                to_each: analyst.calls_per_account.get(),
            },
        }),
        _ => None,
    };
    Settings { model }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(variables: &[(&str, &str)]) -> Settings {
        let variables = variables
            .iter()
            .map(|(name, value)| (format!("BELLWETHER_ANALYST__{name}"), (*value).to_owned()));
        settings(&crate::settings::Settings::load(None, variables).unwrap().analyst)
    }

    #[test]
    fn rules_are_used_unless_a_model_is_configured() {
        assert!(set(&[]).model.is_none());
        assert!(set(&[("MODEL", "qwen3")]).model.is_none());
        let local = set(&[
            ("KIND", "openai"),
            ("MODEL", "qwen3"),
            ("BASE_URL", "http://localhost:11434/v1"),
            ("MAX_TOKENS_NAME", "max_tokens"),
            ("MAX_TOKENS", "900"),
        ]);
        let local = local.model.unwrap();
        assert_eq!(local.base_url, "http://localhost:11434/v1");
        assert_eq!(local.tokens, TokenLimit::MaxTokens(900));
        assert!(local.key.is_none());
    }
}
