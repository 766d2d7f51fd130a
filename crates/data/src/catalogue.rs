//! The data sets that are known by name.

use crate::lags::Lags;
use crate::split::SplitFractions;
use crate::window::WindowConfig;

/// What is known about a named data set, whether it is compiled in or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownDataset {
    /// Name on the command line.
    pub name: &'static str,
    /// One line for lists.
    pub description: &'static str,
    /// Where it comes from, for citation.
    pub source: &'static str,
    /// Samples in the original record.
    pub samples: usize,
    /// Seconds between samples, where given.
    pub sample_time: Option<f64>,
    /// What the input u is, and its unit.
    pub input: (&'static str, Option<&'static str>),
    /// What the output y is, and its unit.
    pub output: (&'static str, Option<&'static str>),
    /// Share of the record for training and validation in the paper, 80 % and 20 % of it.
    pub training_share: f64,
    /// Lags in the paper.
    pub lags: Lags,
    /// Window length and step in the paper.
    pub window: WindowConfig,
    /// The record, if it may be redistributed.
    pub(crate) content: Option<&'static str>,
}

impl KnownDataset {
    /// Whether the record is compiled in; otherwise the user supplies it.
    pub fn is_built_in(&self) -> bool {
        self.content.is_some()
    }

    /// The paper's split.
    pub fn split(&self) -> SplitFractions {
        let share = self.training_share;
        SplitFractions {
            train: 0.8 * share,
            validation: 0.2 * share,
            test: 1.0 - share,
        }
    }
}

/// All data sets with a known name, those that are compiled in first.
pub const CATALOGUE: &[KnownDataset] = &[
    KnownDataset {
        name: "hair-dryer",
        description: "air temperature behind a heated tube",
        source: "DaISy 96-006 (De Moor, KU Leuven) by way of SLICOT, BSD-3-Clause",
        samples: 1000,
        sample_time: Some(0.08),
        input: ("heater voltage", Some("V")),
        output: ("thermocouple voltage", Some("V")),
        training_share: 0.5,
        lags: Lags { nx: 2, nd: 2, ny: 3 },
        window: WindowConfig { length: 30, step: 2 },
        content: Some(include_str!("../datasets/hair_dryer.csv")),
    },
    KnownDataset {
        name: "robot-arm",
        description: "flexible robot arm on an electric motor, lightly damped",
        source: "DaISy 96-009 (De Moor, KU Leuven) by way of SLICOT, BSD-3-Clause",
        samples: 1024,
        sample_time: None,
        input: ("reaction torque", None),
        output: ("acceleration of the arm", None),
        training_share: 0.5,
        lags: Lags { nx: 2, nd: 1, ny: 3 },
        window: WindowConfig { length: 30, step: 1 },
        content: Some(include_str!("../datasets/robot_arm.csv")),
    },
    KnownDataset {
        name: "heat-exchanger",
        description: "liquid-saturated steam heat exchanger",
        source: "DaISy 97-002 (Bittanti, Piroddi)",
        samples: 4000,
        sample_time: Some(1.0),
        input: ("liquid flow rate", None),
        output: ("outlet liquid temperature", Some("°C")),
        training_share: 0.25,
        lags: Lags { nx: 2, nd: 0, ny: 3 },
        window: WindowConfig { length: 80, step: 5 },
        content: None,
    },
    KnownDataset {
        name: "mr-damper",
        description: "magneto-rheological fluid damper",
        source: "demo record of MATLAB's System Identification Toolbox (Wang, Sano, Chen, Huang 2009)",
        samples: 3499,
        sample_time: Some(0.005),
        input: ("piston velocity", Some("cm/s")),
        output: ("damping force", Some("N")),
        training_share: 2.0 / 3.0,
        lags: Lags { nx: 2, nd: 0, ny: 1 },
        window: WindowConfig { length: 40, step: 5 },
        content: None,
    },
];

/// The entry of the catalogue with this name; `_` and `-` are the same.
pub fn known_dataset(name: &str) -> Option<&'static KnownDataset> {
    let name = name.replace('_', "-");
    CATALOGUE.iter().find(|known| known.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_and_lags_are_valid() {
        for known in CATALOGUE {
            assert!(
                known.split().check().is_ok() && known.lags.check().is_ok(),
                "{}",
                known.name
            );
        }
        assert!(known_dataset("hair_dryer").is_some_and(KnownDataset::is_built_in));
        assert!(known_dataset("mr-damper").is_some_and(|known| !known.is_built_in()));
    }
}
