//! What a mistyped name was meant to be.

/// The known name most like a mistyped one, if any is.
///
/// ```
/// use intervalid_workflow::nearest;
///
/// assert_eq!(nearest("epoch", ["model", "epochs", "batch"]), Some("epochs"));
/// assert_eq!(nearest("qwertz", ["model", "epochs"]), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let similarity = |other: &str| strsim::jaro_winkler(name, other);
    let best = known
        .into_iter()
        .max_by(|a, b| similarity(a).total_cmp(&similarity(b)))?;
    (similarity(best) > 0.75).then_some(best)
}
