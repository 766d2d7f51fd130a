//! Initial θ (docs/method.md, section 3): input weights Glorot uniform, recurrent weights orthogonal, biases 0, forget bias 1.
//!
//! X. Glorot, Y. Bengio: Understanding the difficulty of training deep feedforward neural networks, AISTATS 2010.

use intervalid_interval::Real;
use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use crate::network::{Architecture, Block, LayerId, MapId, NetworkKind, Role};

/// What a random number is for: each purpose has a stream of its own, so that none depends on how many another drew.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Initialise = 0,
    ShuffleCrisp = 1,
    ShuffleMargins = 2,
    ShuffleJoint = 3,
    AssignLanes = 4,
    ShuffleLikelihood = 5,
    /// Seeds of an ensemble's members.
    Members = 6,
    /// Of weights or masks, in training.
    TrainingDraws = 7,
    /// Of weights or masks, in free runs over the validation part: the same in every epoch, so that epochs compare.
    ValidationDraws = 8,
    /// Of weights, in simulations.
    PredictionDraws = 9,
    /// Of masks, in simulations.
    PredictionMasks = 10,
    WeightNoise = 11,
}

/// The generator for one purpose (and epoch): the same on every machine and in every release.
pub(crate) fn generator(seed: u64, purpose: Purpose, epoch: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(((purpose as u64) << 32) | epoch as u64);
    rng
}

/// Random θ for an architecture. A linear path starts at zero; the caller puts the ARX fit there.
pub(crate) fn initial_parameters<T: Real>(architecture: &Architecture, seed: u64) -> Vec<T> {
    let layout = architecture.layout();
    let mut rng = generator(seed, Purpose::Initialise, 0);
    let mut theta = vec![T::zero(); layout.len()];
    for block in layout.blocks() {
        let values = &mut theta[block.range.clone()];
        match block.role {
            _ if block.range == layout.linear => {}
            // A random gain would throw the states about.
            Role::Weight if block.layer == LayerId::Observer => {}
            Role::Weight if block.layer == LayerId::MapLinear(MapId::State) => modes(values, block, &mut rng),
            Role::Weight if block.layer == LayerId::Map(MapId::State, 1) => {
                glorot(values, block, &mut rng);
                values.iter_mut().for_each(|value| *value *= T::of(QUIET));
            }
            Role::Weight => glorot(values, block, &mut rng),
            Role::Recurrent => orthonormal_columns(values, block, &mut rng),
            Role::Bias => {
                // The cells' biases are [i, f, q, o]; a forget gate that starts open lets gradients through.
                if architecture.kind == NetworkKind::Lstm && !layout.is_output(block) {
                    values[block.rows / 4..block.rows / 2].fill(T::one());
                }
            }
        }
    }
    theta
}

/// Share at which the network of a state map starts, beside modes that are stable on their own.
const QUIET: f64 = 0.1;

/// [A B] with A diagonal, its time constants from two samples upwards, each twice the one before; B as any weights.
fn modes<T: Real>(values: &mut [T], block: &Block, rng: &mut ChaCha8Rng) {
    /// 2, 4, … 256 samples: modes beyond share the slowest.
    const OCTAVES: i32 = 8;
    glorot(values, block, rng);
    for (row, values) in values.chunks_exact_mut(block.columns).enumerate() {
        for (column, value) in values[..block.rows].iter_mut().enumerate() {
            let octave = i32::try_from(row).unwrap_or(i32::MAX).saturating_add(1).min(OCTAVES);
            *value = match row == column {
                true => T::of(1.0 - 0.5_f64.powi(octave)),
                false => T::zero(),
            };
        }
    }
}

fn glorot<T: Real>(values: &mut [T], block: &Block, rng: &mut ChaCha8Rng) {
    let limit = (6.0 / (block.rows + block.columns) as f64).sqrt();
    for value in values {
        *value = T::of(rng.random_range(-limit..limit));
    }
}

/// Gram–Schmidt on Gaussian columns, twice for orthogonality to rounding.
fn orthonormal_columns<T: Real>(values: &mut [T], block: &Block, rng: &mut ChaCha8Rng) {
    let (rows, columns) = (block.rows, block.columns);
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(columns);
    while basis.len() < columns {
        let mut column: Vec<f64> = (0..rows).map(|_| rng.sample(StandardNormal)).collect();
        for _ in 0..2 {
            for other in &basis {
                let overlap: f64 = column.iter().zip(other).map(|(a, b)| a * b).sum();
                column.iter_mut().zip(other).for_each(|(a, b)| *a -= overlap * b);
            }
        }
        let norm = column.iter().map(|a| a * a).sum::<f64>().sqrt();
        if norm > 1e-6 {
            column.iter_mut().for_each(|a| *a /= norm);
            basis.push(column);
        }
    }
    for (index, column) in basis.iter().enumerate() {
        for (row, &value) in column.iter().enumerate() {
            values[row * columns + index] = T::of(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use intervalid_data::Lags;

    use super::*;

    fn lstm() -> Architecture {
        let lags = Lags { nx: 2, nd: 0, ny: 2 };
        Architecture {
            kind: NetworkKind::Lstm,
            inputs: 1,
            outputs: 1,
            lags,
            hidden: vec![6, 4],
            linear_path: true,
            states: 0,
            head: crate::network::Head::Point,
        }
    }

    #[test]
    fn recurrent_weights_are_orthogonal_and_forget_biases_one() {
        let architecture = lstm();
        let theta = initial_parameters::<f64>(&architecture, 3);
        for block in architecture.layout().blocks() {
            let values = &theta[block.range.clone()];
            match block.role {
                Role::Recurrent => {
                    for a in 0..block.columns {
                        for b in 0..block.columns {
                            let dot: f64 = (0..block.rows)
                                .map(|row| values[row * block.columns + a] * values[row * block.columns + b])
                                .sum();
                            assert!((dot - f64::from(u8::from(a == b))).abs() < 1e-12);
                        }
                    }
                }
                Role::Bias if block.rows > 1 => {
                    let quarter = block.rows / 4;
                    assert!(values.iter().enumerate().all(|(i, &b)| (b > 0.5) == (i / quarter == 1)));
                }
                _ => {}
            }
        }
        assert!(
            theta[architecture.layout().linear.clone()]
                .iter()
                .all(|&a| a.abs() < f64::MIN_POSITIVE)
        );
    }

    #[test]
    fn seeds_give_reproducible_and_different_networks() {
        let architecture = lstm();
        assert_eq!(
            initial_parameters::<f32>(&architecture, 1),
            initial_parameters::<f32>(&architecture, 1)
        );
        assert_ne!(
            initial_parameters::<f32>(&architecture, 1),
            initial_parameters::<f32>(&architecture, 2)
        );
    }
}
