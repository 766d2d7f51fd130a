//! Bytes as a story of what happens to a simulation: starts, steps, measurements, with values from usual to absurd.

use intervalid_data::Scale;

/// What is done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// A start with these many past samples of inputs and outputs.
    Reset(usize, usize),
    Step,
    Observe,
    Correct,
    /// The state is stored and read back.
    Store,
}

/// Values that arithmetic trips over.
const ODD: [f64; 8] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN_POSITIVE,
    9.9e37,
    -9.9e37,
    -0.0,
];

/// What is left of an input.
#[derive(Debug)]
pub(crate) struct Script<'a>(pub(crate) &'a [u8]);

impl Script<'_> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Steps are as frequent as everything else together.
    pub(crate) fn action(&mut self) -> Option<Action> {
        Some(match self.byte()? {
            0..=127 => Action::Step,
            128..=175 => Action::Observe,
            176..=207 => Action::Correct,
            208..=223 => Action::Store,
            _ => Action::Reset(self.byte()?.into(), self.byte()?.into()),
        })
    }

    /// A value of a channel. Every one is a number of single precision, so that exported code is given the same.
    pub(crate) fn value(&mut self, scale: &Scale) -> Option<f64> {
        let tag = self.byte()?;
        let deviations = |count: f64| scale.mean + scale.std * count;
        let value = match tag {
            // Within four standard deviations.
            0..=199 => deviations((f64::from(tag) - 99.5) / 25.0),
            // Up to ten billion of them, on both sides of what is refused.
            200..=239 => {
                deviations(10_f64.powf(f64::from(tag - 200) / 4.0 + 0.1) * if tag % 2 == 0 { 1.0 } else { -1.0 })
            }
            240..=247 => ODD[usize::from(tag - 240)],
            _ => {
                let (bytes, rest) = self.0.split_first_chunk()?;
                self.0 = rest;
                f64::from(f32::from_le_bytes(*bytes))
            }
        };
        Some(f64::from(value as f32))
    }

    /// One value of each channel.
    pub(crate) fn sample(&mut self, scales: &[Scale]) -> Option<Vec<f64>> {
        scales.iter().map(|scale| self.value(scale)).collect()
    }

    /// Samples of all channels, the oldest first.
    pub(crate) fn samples(&mut self, count: usize, scales: &[Scale]) -> Option<Vec<f64>> {
        (0..count * scales.len())
            .map(|index| self.value(&scales[index % scales.len()]))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_an_action_or_a_value() {
        let scale = Scale { mean: 2.0, std: 0.5 };
        for byte in 0..=255 {
            let text = [byte, 1, 2, 3, 4];
            assert!(Script(&text).action().is_some());
            let value = Script(&text).value(&scale).expect("a value");
            assert!(byte >= 200 || (value - 2.0).abs() <= 2.0, "{byte}: {value}");
        }
        assert_eq!(Script(&[255, 3]).action(), None);
        assert_eq!(Script(&[250, 1]).value(&scale), None);
    }
}
