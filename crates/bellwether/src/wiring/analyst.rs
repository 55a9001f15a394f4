//! Converts the analyst's settings.

use watchlist::analyst::{AnalystConfig, CallBudget, ModelConfig, ModelKey, TokenLimit};

use crate::settings::{AnalystKind, AnalystSection, TokenLimitName};

pub(super) fn settings(analyst: &AnalystSection) -> AnalystConfig {
    // The settings require a model for this kind of analyst.
    let model = match (analyst.kind, &analyst.model) {
        (AnalystKind::Openai, Some(name)) => Some(ModelConfig {
            base_url: analyst.base_url.to_string(),
            name: name.clone(),
            key: analyst.api_key.as_ref().and_then(|key| ModelKey::new(key.expose())),
            timeout: analyst.timeout.unsigned_abs(),
            tokens: match analyst.max_tokens_name {
                TokenLimitName::MaxCompletionTokens => TokenLimit::MaxCompletionTokens(analyst.max_tokens.get()),
                TokenLimitName::MaxTokens => TokenLimit::MaxTokens(analyst.max_tokens.get()),
            },
            budget: CallBudget {
                total: analyst.calls_per_day.get(),
                per_account: analyst.calls_per_account.get(),
            },
        }),
        _ => None,
    };
    AnalystConfig { model }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(overrides: &[(&str, &str)]) -> AnalystConfig {
        settings(&crate::settings::Settings::with_overrides(overrides).unwrap().analyst)
    }

    #[test]
    fn rules_are_used_unless_a_model_is_configured() {
        assert!(set(&[]).model.is_none());
        assert!(set(&[("ANALYST__MODEL", "qwen3")]).model.is_none());
        let local = set(&[
            ("ANALYST__KIND", "openai"),
            ("ANALYST__MODEL", "qwen3"),
            ("ANALYST__BASE_URL", "http://localhost:11434/v1"),
            ("ANALYST__MAX_TOKENS_NAME", "max_tokens"),
            ("ANALYST__MAX_TOKENS", "900"),
        ]);
        let local = local.model.unwrap();
        assert_eq!(local.base_url, "http://localhost:11434/v1");
        assert_eq!(local.tokens, TokenLimit::MaxTokens(900));
        assert!(local.key.is_none());
    }
}
