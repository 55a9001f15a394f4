//! Tag list parameters.

use alerts::Tags;

use super::Query;

impl Query {
    /// Reads comma-separated tags. Empty elements are ignored.
    pub fn tags(&mut self, name: &str) -> Tags {
        let text = self.value(name).unwrap_or_default();
        let tags: Vec<&str> = text.split(',').filter(|tag| !tag.trim().is_empty()).collect();
        match Tags::read(tags.into_iter()) {
            Ok(tags) => tags,
            Err(error) => {
                self.reject(name, error.to_string());
                Tags::default()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> (Vec<String>, bool) {
        let mut reader = Query::from_uri(&format!("/?{query}").parse().unwrap());
        let tags = reader.tags("tags").as_slice().to_vec();
        (tags, reader.finish().is_ok())
    }

    #[test]
    fn tags_are_separated_by_commas_and_each_counts_once() {
        assert_eq!(
            read("tags=swing,+big+caps,swing"),
            (vec!["swing".to_owned(), "big caps".to_owned()], true)
        );
        assert_eq!(read("tags=,a,,+"), (vec!["a".to_owned()], true));
        for empty in ["", "tags=", "tags=,"] {
            assert_eq!(read(empty), (Vec::new(), true), "{empty}");
        }
    }

    #[test]
    fn invalid_tags_are_refused() {
        let too_many: Vec<String> = (0..21).map(|number| number.to_string()).collect();
        for tags in ["a%00b", "a%0Ab", &"x".repeat(41), &too_many.join(",")] {
            assert_eq!(read(&format!("tags={tags}")), (Vec::new(), false), "{tags}");
        }
    }
}
