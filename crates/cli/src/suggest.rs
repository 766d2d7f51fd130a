//! What a mistyped name was meant to be.

/// The known name most like a mistyped one, if any is.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let similarity = |other: &str| strsim::jaro_winkler(name, other);
    let best = known
        .into_iter()
        .max_by(|a, b| similarity(a).total_cmp(&similarity(b)))?;
    (similarity(best) > 0.75).then_some(best)
}

/// The same from a parser's words, in which names are quoted: "unknown field `epoch`, expected one of `epochs`, …".
pub(crate) fn nearest_in(message: &str) -> Option<&str> {
    let (_, names) = message.split_once("unknown ")?;
    let mut quoted = names.split('`').skip(1).step_by(2);
    let mistyped = quoted.next()?;
    nearest(mistyped, quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_of_quoted_names() {
        let message = "settings: unknown field `epoch`, expected one of `model`, `epochs`, `batch`";
        assert_eq!(nearest_in(message), Some("epochs"));
        assert_eq!(nearest_in("unknown field `qwertz`, expected `model` or `epochs`"), None);
        assert_eq!(nearest_in("expected a string"), None);
    }
}
