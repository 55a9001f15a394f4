//! Variables of the environment in texts: `${NAME}`.

use super::{Node, NodeKind, yaml};
use crate::error::ErrorCollector;

/// Replaces the variables in all texts. `$${` stands for `${`.
pub(crate) fn expand(node: &mut Node, variable: &dyn Fn(&str) -> Option<String>, errors: &mut ErrorCollector<'_>) {
    let position = node.position;
    match &mut node.kind {
        NodeKind::List(items) => items.iter_mut().for_each(|item| expand(item, variable, errors)),
        NodeKind::Map(members) => members.iter_mut().for_each(|(_, node)| expand(node, variable, errors)),
        NodeKind::Text {
            value,
            with_variables,
            is_plain,
        } if value.contains("${") => match expanded(value, variable) {
            Ok(expanded) => {
                *with_variables = Some(std::mem::replace(value, expanded));
                // A variable without quotes may be a number.
                if let Some(kind @ NodeKind::Number(_)) = yaml::plain(value).filter(|_| *is_plain) {
                    node.kind = kind;
                }
            }
            Err(message) => errors.add(position, message),
        },
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) | NodeKind::Text { .. } => {}
    }
}

fn expanded(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        if rest[..start].ends_with('$') {
            expanded.push_str(&rest[..start]);
            expanded.push('{');
            rest = &rest[start + 2..];
            continue;
        }
        expanded.push_str(&rest[..start]);
        let after = &rest[start + 2..];
        let end = after
            .find('}')
            .ok_or("`${` has no `}`; close it, or write `$${` for the text itself")?;
        let name = &after[..end];
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name {
            return Err(format!(
                "`${{{name}}}` is not the name of a variable; use letters, digits and `_`, or write `$${{` for the text itself"
            ));
        }
        let value = variable(name).ok_or_else(|| {
            format!("the variable {name} is not set in the environment; set it, or write `$${{` for the text itself")
        })?;
        expanded.push_str(&value);
        rest = &after[end + 1..];
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand_text(text: &str) -> Result<String, String> {
        expanded(text, &|name| (name == "LEVEL").then(|| "180".to_owned()))
    }

    #[test]
    fn variables_are_replaced() {
        assert_eq!(expand_text("price < ${LEVEL}, ${LEVEL}").unwrap(), "price < 180, 180");
        assert_eq!(expand_text("a $${LEVEL} costs $5").unwrap(), "a ${LEVEL} costs $5");
    }

    #[test]
    fn unknown_and_malformed_variables_are_errors() {
        assert!(expand_text("${OTHER}").unwrap_err().contains("OTHER is not set"));
        assert!(expand_text("${LEVEL").unwrap_err().contains("no `}`"));
        assert!(expand_text("${a b}").unwrap_err().contains("not the name"));
    }
}
