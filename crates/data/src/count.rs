//! Numbers with their nouns.

/// A count with its noun: `1 sample`, `2 samples`, `3 stretches`.
///
/// ```
/// use intervalid_data::count;
///
/// assert_eq!(count(1, "sample"), "1 sample");
/// assert_eq!(count(3, "epoch"), "3 epochs");
/// assert_eq!(count(0, "stretch"), "0 stretches");
/// ```
#[must_use]
pub fn count(number: usize, noun: &str) -> String {
    let ending = match (number, noun.ends_with("tch")) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{number} {noun}{ending}")
}
