//! Evaluations as the contract of `fit --json` has them.

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Evaluation, Metrics};

/// What a measure is called in JSON, and how it is read.
type Measure = (&'static str, fn(&Metrics) -> Option<f64>);

/// The measures, in the order of the contract.
pub(super) const MEASURES: [Measure; 7] = [
    ("rmse", |m| m.rmse),
    ("fit_percent", |m| m.fit_percent),
    ("picp", |m| m.picp),
    ("pinaw", |m| m.pinaw),
    ("cwc", |m| m.cwc),
    ("interval_score", |m| m.interval_score),
    ("worst_rolling_picp", |m| m.worst_rolling_picp),
];

impl Serialize for Evaluation {
    fn serialize<S: Serializer>(&self, serializer: S) -> core::result::Result<S::Ok, S::Error> {
        if self.outputs.len() == 1 {
            return self.all.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("n", &self.all.n)?;
        for (name, measure) in MEASURES {
            map.serialize_entry(name, &PerOutput(self, measure))?;
        }
        map.serialize_entry("picp_together", &self.together)?;
        if let Some(step) = self.all.diverged_at {
            map.serialize_entry("diverged_at", &step)?;
        }
        map.end()
    }
}

/// A measure in JSON: of the one output, or of every output and of all.
enum Cell {
    One(Option<f64>),
    Each(Vec<(String, Option<f64>)>),
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> core::result::Result<Self, D::Error> {
        struct CellVisitor;

        impl<'de> Visitor<'de> for CellVisitor {
            type Value = Cell;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("a number, null, or numbers by output")
            }

            fn visit_f64<E>(self, value: f64) -> core::result::Result<Cell, E> {
                Ok(Cell::One(Some(value)))
            }

            fn visit_u64<E>(self, value: u64) -> core::result::Result<Cell, E> {
                Ok(Cell::One(Some(value as f64)))
            }

            fn visit_i64<E>(self, value: i64) -> core::result::Result<Cell, E> {
                Ok(Cell::One(Some(value as f64)))
            }

            fn visit_unit<E>(self) -> core::result::Result<Cell, E> {
                Ok(Cell::One(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> core::result::Result<Cell, A::Error> {
                let mut values = Vec::new();
                while let Some(entry) = map.next_entry::<String, Option<f64>>()? {
                    values.push(entry);
                }
                Ok(Cell::Each(values))
            }
        }

        deserializer.deserialize_any(CellVisitor)
    }
}

/// Where a measure goes.
type Place = fn(&mut Metrics) -> &mut Option<f64>;

/// Reads what [`Serialize`] writes. The name of a single output is not written and reads back as an empty one.
impl<'de> Deserialize<'de> for Evaluation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> core::result::Result<Self, D::Error> {
        /// The JSON object, a field per measure as in [`MEASURES`].
        #[derive(Deserialize)]
        struct Fields {
            n: usize,
            rmse: Cell,
            fit_percent: Cell,
            picp: Cell,
            pinaw: Cell,
            cwc: Cell,
            interval_score: Cell,
            worst_rolling_picp: Cell,
            #[serde(default)]
            picp_together: Option<f64>,
            #[serde(default)]
            diverged_at: Option<usize>,
        }
        let fields = Fields::deserialize(deserializer)?;
        let names: Vec<String> = match &fields.rmse {
            Cell::One(_) => vec![String::new()],
            Cell::Each(values) => values.iter().map(|(name, _)| name.clone()).collect(),
        };
        let mut columns: Vec<Metrics> = vec![
            Metrics {
                n: fields.n,
                diverged_at: fields.diverged_at,
                ..Metrics::default()
            };
            names.len()
        ];
        let cells: [(Cell, Place); 7] = [
            (fields.rmse, |m| &mut m.rmse),
            (fields.fit_percent, |m| &mut m.fit_percent),
            (fields.picp, |m| &mut m.picp),
            (fields.pinaw, |m| &mut m.pinaw),
            (fields.cwc, |m| &mut m.cwc),
            (fields.interval_score, |m| &mut m.interval_score),
            (fields.worst_rolling_picp, |m| &mut m.worst_rolling_picp),
        ];
        let wrong = || serde::de::Error::custom("measures of different outputs");
        for (cell, measure) in cells {
            let values = match cell {
                Cell::One(value) => vec![(String::new(), value)],
                Cell::Each(values) => values,
            };
            if !values.iter().map(|(name, _)| name).eq(&names) {
                return Err(wrong());
            }
            for (metrics, (_, value)) in columns.iter_mut().zip(values) {
                *measure(metrics) = value;
            }
        }
        let mut outputs: Vec<(String, Metrics)> = names.into_iter().zip(columns).collect();
        let all = match outputs.as_slice() {
            [(name, only)] if name.is_empty() => *only,
            [.., (name, _)] if name == "all" => outputs.pop().ok_or_else(wrong)?.1,
            _ => return Err(wrong()),
        };
        for (name, _) in &mut outputs {
            if name == "output all" {
                "all".clone_into(name);
            }
        }
        Ok(Self {
            outputs,
            all,
            together: fields.picp_together,
        })
    }
}

/// One measure of every output and of all.
struct PerOutput<'a>(&'a Evaluation, fn(&Metrics) -> Option<f64>);

impl Serialize for PerOutput<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> core::result::Result<S::Ok, S::Error> {
        let Self(evaluation, measure) = self;
        let mut map = serializer.serialize_map(Some(evaluation.outputs.len() + 1))?;
        for (name, metrics) in &evaluation.outputs {
            let key = if name == "all" { "output all" } else { name };
            map.serialize_entry(key, &measure(metrics))?;
        }
        map.serialize_entry("all", &measure(&evaluation.all))?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_read_back() {
        let metrics = |rmse: f64| Metrics {
            n: 5,
            rmse: Some(rmse),
            picp: Some(1.0),
            ..Metrics::default()
        };
        let several = Evaluation {
            outputs: vec![("a".to_owned(), metrics(1.0)), ("all".to_owned(), metrics(2.5))],
            all: metrics(1.75),
            together: Some(0.8),
        };
        let text = serde_json::to_string(&several).unwrap();
        assert_eq!(serde_json::from_str::<Evaluation>(&text).unwrap(), several);
        let one = Evaluation {
            outputs: vec![(String::new(), metrics(1.0))],
            all: metrics(1.0),
            together: None,
        };
        let text = serde_json::to_string(&one).unwrap();
        assert_eq!(serde_json::from_str::<Evaluation>(&text).unwrap(), one);
        assert!(serde_json::from_str::<Evaluation>(&text.replace("\"pinaw\":null", "\"pinaw\":{}")).is_err());
    }
}
