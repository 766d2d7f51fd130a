//! Which past samples a model sees, and how a simulation starts.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::DataError;

/// The lags of the regressor
/// x(k) = [ y(k-1), …, y(k-n_y), u(k-n_d), …, u(k-n_d-n_x) ].
///
/// | field | symbol | range | meaning |
/// |---|---|---|---|
/// | `nx` | n_x | ≥ 0 | input taps beyond the first: there are n_x+1 |
/// | `nd` | n_d | ≥ 0 | dead time in samples: the newest input tap is u(k-n_d) |
/// | `ny` | n_y | ≥ 1 | output lags |
///
/// [`Regressor`](crate::Regressor) says where each of these entries stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lags {
    /// Input taps beyond the first.
    pub nx: usize,
    /// Dead time in samples.
    pub nd: usize,
    /// Output lags, at least 1.
    pub ny: usize,
}

/// No lag may exceed this: it keeps `k - lag` and the regressor length far from overflow.
const MAX_LAG: usize = 1_000_000;

impl Lags {
    /// Checked lags.
    ///
    /// # Errors
    /// If `ny` is 0 or a lag is above one million.
    pub fn new(nx: usize, nd: usize, ny: usize) -> Result<Self, DataError> {
        let lags = Self { nx, nd, ny };
        lags.check()?;
        Ok(lags)
    }

    /// The check behind [`Lags::new`], for values that were built field by field.
    pub(crate) fn check(self) -> Result<(), DataError> {
        if self.ny == 0 || self.ny > MAX_LAG || self.nx > MAX_LAG || self.nd > MAX_LAG {
            return Err(DataError::Lags { lags: self });
        }
        Ok(())
    }

    /// Number of input taps per channel, n_x+1.
    pub fn input_taps(self) -> usize {
        self.nx + 1
    }

    /// How many samples before k the input tap u(k-n_d-tap) lies; `tap` counts from 0.
    pub fn input_age(self, tap: usize) -> usize {
        self.nd + tap
    }

    /// Length of x(k) for the given numbers of channels.
    pub fn regressor_len(self, inputs: usize, outputs: usize) -> usize {
        self.ny * outputs + self.input_taps() * inputs
    }

    /// Samples of history before k that x(k) reaches back to.
    pub fn memory(self) -> usize {
        self.ny.max(self.input_age(self.nx))
    }
}

/// Written `NX,ND,NY`, as on the command line.
impl fmt::Display for Lags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{},{}", self.nx, self.nd, self.ny)
    }
}

impl FromStr for Lags {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        let parsed: Option<Vec<usize>> = text.split(',').map(|field| field.trim().parse().ok()).collect();
        match parsed.as_deref() {
            Some(&[nx, nd, ny]) => Self::new(nx, nd, ny),
            _ => Err(DataError::ParseLags { found: text.to_owned() }),
        }
    }
}

/// What is known of the outputs when a simulation starts at sample `start`.
///
/// Text form (also in serde): `zero`, `measured`, `warmup:N`, `history:N`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum InitialState {
    /// Only y(start); older outputs are zero in normalised units. The paper's protocol.
    #[default]
    ZeroPadded,
    /// The n_y measured outputs y(start-n_y+1) … y(start), from the first start on that has all inputs of the regressor.
    Measured,
    /// y(start) … y(start+n): the first n predicted samples see measured outputs only and are not scored, so that
    /// recurrent states settle. Outputs before the start are zero.
    Warmup(usize),
    /// As `Warmup`, but the n samples lie before the part that is simulated wherever the record has them, so that every
    /// sample of the part is scored; at the beginning of a record its first n samples serve.
    History(usize),
}

impl InitialState {
    /// Samples whose measured outputs a simulation from `start` may use.
    ///
    /// With this range the three policies are one rule: an output lag that falls before the range is zero, inside it is
    /// the measurement, after it is the model's own prediction.
    pub fn known_outputs(self, start: usize, lags: Lags) -> Range<usize> {
        match self {
            Self::ZeroPadded => start..start + 1,
            Self::Measured => (start + 1).saturating_sub(lags.ny)..start + 1,
            Self::Warmup(steps) | Self::History(steps) => start..start.saturating_add(steps).saturating_add(1),
        }
    }

    /// Predicted samples that are not scored.
    pub fn unscored(self) -> usize {
        match self {
            Self::Warmup(steps) | Self::History(steps) => steps,
            Self::ZeroPadded | Self::Measured => 0,
        }
    }

    /// Samples before a part that a run over it starts from where the record has them.
    pub fn looks_back(self) -> usize {
        match self {
            Self::History(steps) => steps,
            Self::ZeroPadded | Self::Measured | Self::Warmup(_) => 0,
        }
    }

    /// Samples before the start whose outputs a simulation uses.
    pub fn outputs_before(self, lags: Lags) -> usize {
        match self {
            Self::Measured => lags.ny.saturating_sub(1),
            Self::ZeroPadded | Self::Warmup(_) | Self::History(_) => 0,
        }
    }

    /// The first sample (from 0) of an experiment at which a simulation can start. What was measured has inputs beside it: a model that starts
    /// from there knows all inputs that its first step reaches back to. A dead time that begins with guesses would end in wrong outputs.
    pub fn first_start(self, lags: Lags) -> usize {
        match self {
            Self::Measured => lags.memory().saturating_sub(1),
            Self::ZeroPadded | Self::Warmup(_) | Self::History(_) => 0,
        }
    }

    /// Samples at the beginning of an experiment that are known before the first one that is predicted and scored.
    pub fn known_samples(self, lags: Lags) -> usize {
        self.first_start(lags) + self.unscored() + 1
    }
}

impl fmt::Display for InitialState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroPadded => f.write_str("zero"),
            Self::Measured => f.write_str("measured"),
            Self::Warmup(steps) => write!(f, "warmup:{steps}"),
            Self::History(steps) => write!(f, "history:{steps}"),
        }
    }
}

impl FromStr for InitialState {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Self, DataError> {
        let unknown = || DataError::ParseInitialState { found: text.to_owned() };
        match text {
            "zero" => Ok(Self::ZeroPadded),
            "measured" => Ok(Self::Measured),
            _ => {
                let (name, steps) = text.split_once(':').ok_or_else(unknown)?;
                let steps = steps.parse().map_err(|_| unknown())?;
                match name {
                    "warmup" => Ok(Self::Warmup(steps)),
                    "history" => Ok(Self::History(steps)),
                    _ => Err(unknown()),
                }
            }
        }
    }
}

impl Serialize for InitialState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for InitialState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initial_state_text_round_trips() {
        for state in [
            InitialState::ZeroPadded,
            InitialState::Measured,
            InitialState::Warmup(7),
            InitialState::History(7),
        ] {
            assert_eq!(state.to_string().parse::<InitialState>().ok(), Some(state));
        }
        for wrong in [
            "",
            "Zero",
            "warmup",
            "warmup:",
            "warmup:-1",
            "warmup:1.5",
            "history:",
            "past:3",
        ] {
            let message = wrong.parse::<InitialState>().map_err(|e| e.to_string());
            assert_eq!(
                message,
                Err(format!(
                    "unknown initial state '{wrong}': expected zero, measured, warmup:N or history:N"
                ))
            );
        }
    }

    #[test]
    fn known_outputs_follow_the_policy() {
        let lags = Lags { nx: 0, nd: 0, ny: 3 };
        assert_eq!(InitialState::ZeroPadded.known_outputs(5, lags), 5..6);
        assert_eq!(InitialState::Measured.known_outputs(5, lags), 3..6);
        assert_eq!(InitialState::Warmup(4).known_outputs(5, lags), 5..10);
        assert_eq!(InitialState::Measured.first_start(lags), 2);
        // The first step is the first one that sees an input.
        assert_eq!(InitialState::Measured.first_start(Lags { nx: 1, nd: 12, ny: 3 }), 12);
    }

    #[test]
    fn lags_text() {
        assert_eq!("2, 1,3".parse::<Lags>().ok(), Some(Lags { nx: 2, nd: 1, ny: 3 }));
        let message = "2,1".parse::<Lags>().map_err(|e| e.to_string());
        assert_eq!(
            message,
            Err("cannot read lags '2,1': expected NX,ND,NY such as 2,0,3".to_owned())
        );
        let message = "2,1,0".parse::<Lags>().map_err(|e| e.to_string());
        assert_eq!(
            message,
            Err("lags 2,1,0 are out of range: NX and ND are 0 to 1000000, NY is 1 to 1000000".to_owned())
        );
    }
}
