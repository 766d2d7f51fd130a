//! Names from files, as text that is safe to show.

use std::borrow::Cow;

/// `name` as it may stand in a message: control characters, which could drive a terminal, and marks of writing direction,
/// which could reorder the line around them, are written as escapes.
///
/// ```
/// use intervalid_data::display_name;
///
/// assert_eq!(display_name("Füllstand [m]"), "Füllstand [m]");
/// assert_eq!(display_name("a\u{1b}[31mred"), "a\\u{1b}[31mred");
/// ```
pub fn display_name(name: &str) -> Cow<'_, str> {
    if !name.contains(is_unsafe) {
        return Cow::Borrowed(name);
    }
    let mut shown = String::with_capacity(name.len() + 8);
    for character in name.chars() {
        if is_unsafe(character) {
            shown.extend(character.escape_debug());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// C0 and C1 controls, bidirectional controls (Unicode Standard Annex 9, section 2), line and paragraph separators.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// Names for a message, cut where they would fill the screen.
pub(crate) fn display_names(names: &[String]) -> String {
    const SHOWN: usize = 20;
    const LONGEST: usize = 60;
    if names.is_empty() {
        return "none".to_owned();
    }
    let cut = |name: &String| match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", display_name(&name[..end])),
        None => display_name(name).into_owned(),
    };
    let shown: Vec<String> = names.iter().take(SHOWN).map(cut).collect();
    let shown = shown.join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// `; did you mean 'x'?`, or nothing.
pub(crate) fn did_you_mean(closest: &Option<String>) -> String {
    closest.as_ref().map_or_else(String::new, |close| {
        format!("; did you mean '{}'?", display_name(close))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_raw() {
        let unsafe_characters = (0..0x20)
            .chain(0x7f..0xa0)
            .chain([0x61c, 0x200e, 0x200f])
            .chain(0x2028..=0x202e)
            .chain(0x2066..=0x2069);
        for code in unsafe_characters {
            let character = char::from_u32(code).expect("a character");
            let shown = display_name(&format!("a{character}b")).into_owned();
            assert!(shown.starts_with("a\\") && shown.ends_with('b'), "{code:x}: {shown}");
            assert!(shown.is_ascii() && !shown.contains(is_unsafe), "{code:x}: {shown}");
        }
        assert_eq!(display_name("naïve \\n '温度'"), "naïve \\n '温度'");
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (1..=22).map(|number| format!("c{number}")).collect();
        assert!(display_names(&names).ends_with("c19, c20 and 2 more"));
        assert_eq!(display_names(&names[..2]), "c1, c2");
        assert_eq!(display_names(&[]), "none");
    }
}
