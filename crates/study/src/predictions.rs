//! Bands of a run as bytes: what the database keeps for figures.

use intervalid_data::Dataset;
use intervalid_model::Band;

/// First bytes of every blob, with its format.
const MAGIC: [u8; 4] = *b"ivb1";
/// `diverged_at` of a band that did not diverge.
const NEVER: u32 = u32::MAX;

/// The band of one output over consecutive samples, beside what was measured. Kept in single precision.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredBand {
    /// Index of the experiment.
    pub experiment: usize,
    /// Index of the output.
    pub output: usize,
    /// Sample of the first prediction, from 0.
    pub first: usize,
    /// Unscored predictions at the start.
    pub warmup: usize,
    /// First step at which the simulation diverged; predictions end there.
    pub diverged_at: Option<usize>,
    /// Measured outputs.
    pub target: Vec<f32>,
    /// Lower bounds.
    pub lower: Vec<f32>,
    /// Point predictions.
    pub centre: Vec<f32>,
    /// Upper bounds.
    pub upper: Vec<f32>,
}

impl StoredBand {
    /// One per band and output.
    pub(crate) fn of(dataset: &Dataset, bands: &[Band]) -> Vec<Self> {
        let single = |values: &[f64]| values.iter().map(|&value| value as f32).collect();
        let mut predictions = Vec::new();
        for band in bands {
            let measured = &dataset.experiments()[band.experiment];
            for output in 0..band.centre.len() {
                predictions.push(Self {
                    experiment: band.experiment,
                    output,
                    first: band.first,
                    warmup: band.warmup,
                    diverged_at: band.diverged_at,
                    target: single(&measured.output(output)[band.first..band.first + band.len()]),
                    lower: single(&band.lower[output]),
                    centre: single(&band.centre[output]),
                    upper: single(&band.upper[output]),
                });
            }
        }
        predictions
    }
}

/// Little-endian: magic; then per prediction experiment, output, first, warm-up, diverged at, length as u32, and target,
/// lower, centre, upper as f32.
pub(crate) fn encode(predictions: &[StoredBand]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for prediction in predictions {
        let diverged_at = prediction.diverged_at.map_or(NEVER, |step| step as u32);
        let header = [
            prediction.experiment as u32,
            prediction.output as u32,
            prediction.first as u32,
            prediction.warmup as u32,
            diverged_at,
            prediction.target.len() as u32,
        ];
        bytes.extend(header.iter().flat_map(|value| value.to_le_bytes()));
        for column in [
            &prediction.target,
            &prediction.lower,
            &prediction.centre,
            &prediction.upper,
        ] {
            bytes.extend(column.iter().flat_map(|value| value.to_le_bytes()));
        }
    }
    bytes
}

/// The inverse of [`encode`]; `None` if the bytes are anything else.
pub(crate) fn decode(bytes: &[u8]) -> Option<Vec<StoredBand>> {
    let mut rest = bytes.strip_prefix(&MAGIC)?;
    let mut predictions = Vec::new();
    while !rest.is_empty() {
        let (header, after) = rest.split_at_checked(24)?;
        let word = |index: usize| {
            let bytes = header[4 * index..4 * index + 4].try_into().expect("four bytes");
            u32::from_le_bytes(bytes)
        };
        let column_bytes = (word(5) as usize).checked_mul(4)?;
        let (values, after) = after.split_at_checked(column_bytes.checked_mul(4)?)?;
        rest = after;
        let column = |index: usize| {
            let bytes = &values[index * column_bytes..(index + 1) * column_bytes];
            bytes
                .as_chunks::<4>()
                .0
                .iter()
                .map(|&bytes| f32::from_le_bytes(bytes))
                .collect()
        };
        predictions.push(StoredBand {
            experiment: word(0) as usize,
            output: word(1) as usize,
            first: word(2) as usize,
            warmup: word(3) as usize,
            diverged_at: (word(4) != NEVER).then(|| word(4) as usize),
            target: column(0),
            lower: column(1),
            centre: column(2),
            upper: column(3),
        });
    }
    Some(predictions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_back_and_damage_is_noticed() {
        let prediction = |first, diverged_at| StoredBand {
            experiment: 1,
            output: 0,
            first,
            warmup: 2,
            diverged_at,
            target: vec![1.0, 2.0],
            lower: vec![0.5, f32::NEG_INFINITY],
            centre: vec![1.5, 2.5],
            upper: vec![2.0, 3.0],
        };
        let predictions = vec![prediction(7, None), prediction(9, Some(1))];
        let bytes = encode(&predictions);
        assert_eq!(decode(&bytes), Some(predictions));
        assert_eq!(decode(&bytes[..bytes.len() - 1]), None);
        assert_eq!(decode(&bytes[1..]), None);
        assert_eq!(decode(b"ivb1"), Some(Vec::new()));
    }
}
