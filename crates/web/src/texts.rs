//! The words of all pages, in Fluent (`texts/en.ftl`).

use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use unic_langid::langid;

/// The source of the English texts.
const ENGLISH: &str = include_str!("../texts/en.ftl");

static BUNDLE: LazyLock<FluentBundle<FluentResource>> = LazyLock::new(|| {
    let mut bundle = FluentBundle::new_concurrent(vec![langid!("en-US")]);
    // Isolation marks would become part of attribute values and of what people copy.
    bundle.set_use_isolating(false);
    // The tests parse the file, so neither case has errors.
    let resource = FluentResource::try_new(ENGLISH.to_owned()).unwrap_or_else(|(partial, _)| partial);
    bundle.add_resource_overriding(resource);
    bundle
});

/// A value in a text.
pub type TextArgument<'a> = (&'static str, FluentValue<'a>);

/// Returns a text by its id. A missing text is shown as its id; a test finds those.
#[must_use]
pub fn text(id: &str) -> String {
    text_with(id, [])
}

/// Returns a text with values.
#[must_use]
pub fn text_with<'a>(id: &str, values: impl IntoIterator<Item = TextArgument<'a>>) -> String {
    let Some(pattern) = BUNDLE.get_message(id).and_then(|message| message.value()) else {
        return id.to_owned();
    };
    let mut args = FluentArgs::new();
    for (name, value) in values {
        args.set(name, value);
    }
    let mut errors = Vec::new();
    BUNDLE.format_pattern(pattern, Some(&args), &mut errors).into_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    fn text_ids() -> BTreeSet<String> {
        let id = |line: &str| {
            let (id, _) = line.split_once(" =")?;
            id.starts_with(|first: char| first.is_ascii_lowercase())
                .then(|| id.to_owned())
        };
        ENGLISH.lines().filter_map(id).collect()
    }

    fn sources(folder: &Path) -> String {
        let mut all = String::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                all.push_str(&sources(&path));
            } else if path.file_name().is_some_and(|name| name != "texts.rs") {
                all.push_str(&std::fs::read_to_string(&path).unwrap());
            }
        }
        all
    }

    #[test]
    fn file_of_texts_is_valid_fluent() {
        assert!(FluentResource::try_new(ENGLISH.to_owned()).is_ok());
    }

    #[test]
    fn each_text_of_a_template_exists() {
        let templates = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("templates"));
        let known = text_ids();
        let filters = ["|t }}", "|t}}", "|t(", "|t %}"];
        let used = templates.split('"').zip(templates.split('"').skip(1));
        for (id, after) in used {
            let is_text = filters.iter().any(|filter| after.starts_with(filter));
            assert!(
                !is_text || known.contains(id),
                "the text {id} is missing in texts/en.ftl"
            );
        }
    }

    #[test]
    fn each_text_is_used() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        // Handlers choose the text of a notice.
        let handlers = sources(&root.join("../server/src/routes/web"));
        let used = sources(&root.join("templates")) + &sources(&root.join("src")) + &handlers;
        for id in text_ids() {
            assert!(used.contains(&format!("\"{id}\"")), "the text {id} is not used");
        }
    }

    #[test]
    fn numbers_in_texts_choose_the_form() {
        assert_eq!(text_with("alerts-paused", [("count", 1.into())]), "1 alert paused.");
        assert_eq!(text_with("alerts-paused", [("count", 3.into())]), "3 alerts paused.");
    }
}
