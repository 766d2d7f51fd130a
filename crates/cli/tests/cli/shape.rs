//! What a JSON value looks like: exact keys, and the types behind them.

use std::collections::BTreeSet;

use serde_json::Value;

/// The shape of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Text,
    Number,
    /// A whole number from 0.
    Count,
    Flag,
    /// The shape, or null.
    Maybe(&'static Shape),
    /// Any number of values of one shape.
    List(&'static Shape),
    /// Exactly these keys.
    Object(&'static [(&'static str, Shape)]),
    /// Names that the user chose, and values of one shape.
    Named(&'static Shape),
    /// One of the two.
    Either(&'static Shape, &'static Shape),
    /// An object whose keys are settings and change with the settings there are.
    Settings,
}

impl Shape {
    /// Every difference between `value` and this shape, each with its place.
    pub(crate) fn differences(self, value: &Value) -> Vec<String> {
        let mut found = Vec::new();
        self.compare(value, "$", &mut found);
        found
    }

    fn compare(self, value: &Value, place: &str, found: &mut Vec<String>) {
        let fits = match (self, value) {
            (Self::Maybe(_), Value::Null) => true,
            (Self::Maybe(&shape), value) => return shape.compare(value, place, found),
            (Self::Either(&one, &other), value) => {
                let (one, other) = (one.differences(value), other.differences(value));
                if !one.is_empty() && !other.is_empty() {
                    found.push(format!(
                        "{place} is neither: {}; or {}",
                        one.join(", "),
                        other.join(", ")
                    ));
                }
                true
            }
            (Self::List(&shape), Value::Array(values)) => {
                for (index, value) in values.iter().enumerate() {
                    shape.compare(value, &format!("{place}[{index}]"), found);
                }
                true
            }
            (Self::Named(&shape), Value::Object(values)) => {
                for (name, value) in values {
                    shape.compare(value, &format!("{place}.{name}"), found);
                }
                !values.is_empty()
            }
            (Self::Object(keys), Value::Object(values)) => {
                let expected: BTreeSet<&str> = keys.iter().map(|&(key, _)| key).collect();
                let there: BTreeSet<&str> = values.keys().map(String::as_str).collect();
                let (missing, unknown) = (expected.difference(&there), there.difference(&expected));
                found.extend(missing.map(|key| format!("{place}.{key} is missing")));
                found.extend(unknown.map(|key| format!("{place}.{key} is not in the contract")));
                for &(key, shape) in keys {
                    if let Some(value) = values.get(key) {
                        shape.compare(value, &format!("{place}.{key}"), found);
                    }
                }
                true
            }
            (Self::Settings, Value::Object(_)) | (Self::Text, Value::String(_)) | (Self::Flag, Value::Bool(_)) => true,
            (Self::Number, Value::Number(_)) => true,
            (Self::Count, value) => value.is_u64(),
            _ => false,
        };
        if !fits {
            found.push(format!("{place} is {value}, expected {self:?}"));
        }
    }
}

#[test]
fn differences_are_found_and_named() {
    use serde_json::json;
    let shape = Shape::Object(&[("n", Shape::Count), ("names", Shape::List(&Shape::Text))]);
    assert_eq!(shape.differences(&json!({"n": 3, "names": ["a"]})), [""; 0]);
    assert_eq!(
        shape.differences(&json!({"n": 3.5, "names": ["a", 1], "more": null})),
        [
            "$.more is not in the contract",
            "$.n is 3.5, expected Count",
            "$.names[1] is 1, expected Text"
        ]
    );
    assert_eq!(shape.differences(&json!([])).len(), 1);
    let either = Shape::Either(&Shape::Text, &Shape::Count);
    assert_eq!(either.differences(&json!(7)), [""; 0]);
    assert_eq!(either.differences(&json!(-7)).len(), 1);
    assert_eq!(
        Shape::Object(&[("a", Shape::Flag)]).differences(&json!({})),
        ["$.a is missing"]
    );
}
