//! Synthetic records are reproducible and have the distribution they claim.

use intervalid_data::{BoucWenDamper, DataError, LinearSystem, SyntheticRecord, TwoTank, WienerSystem};

fn all(samples: usize, seed: u64) -> Result<[SyntheticRecord; 4], DataError> {
    Ok([
        LinearSystem::default().generate(samples, seed)?,
        WienerSystem::default().generate(samples, seed)?,
        BoucWenDamper::default().generate(samples, seed)?,
        TwoTank::default().generate(samples, seed)?,
    ])
}

#[test]
fn the_same_seed_gives_the_same_record() {
    let (first, again, other) = (
        all(300, 7).expect("ok"),
        all(300, 7).expect("ok"),
        all(300, 8).expect("ok"),
    );
    for ((first, again), other) in first.iter().zip(&again).zip(&other) {
        assert_eq!(first, again);
        assert_ne!(first.dataset(), other.dataset());
    }
}

/// The share of samples below each quantile lies within four binomial standard deviations: a false alarm in one of
/// 16 000 draws of the seed, and the seed is fixed.
#[test]
fn quantiles_cover_what_they_claim() {
    let samples = 20_000;
    for record in all(samples, 1).expect("generates") {
        let measured = record.dataset().experiments()[0].output(0);
        for probability in [0.05, 0.5, 0.9, 0.975] {
            let below = record
                .quantile(probability)
                .iter()
                .zip(measured)
                .filter(|(q, y)| *y <= *q)
                .count();
            let share = below as f64 / samples as f64;
            let margin = 4.0 * (probability * (1.0 - probability) / samples as f64).sqrt();
            assert!(
                (share - probability).abs() < margin,
                "{} {probability} {share}",
                record.dataset().name()
            );
        }
    }
}

#[test]
fn the_wiener_noise_grows_with_the_output() {
    let record = WienerSystem::default().generate(2000, 1).expect("generates");
    let widest = record.noise_std().iter().copied().fold(0.0, f64::max);
    let narrowest = record.noise_std().iter().copied().fold(f64::INFINITY, f64::min);
    assert!(widest > 4.0 * narrowest);
}

#[test]
fn the_tank_overflows() {
    let record = TwoTank::default().generate(5000, 1).expect("generates");
    let full = record.truth().iter().filter(|level| **level >= 10.0).count();
    assert!(full > 50 && full < 4000, "{full}");
    assert!(record.truth().iter().all(|level| (0.0..=10.0).contains(level)));
}

#[test]
fn messages() {
    let wrong = LinearSystem {
        noise_std: -1.0,
        ..LinearSystem::default()
    };
    assert_eq!(
        wrong.generate(10, 1).expect_err("negative").to_string(),
        "synthetic system: noise_std = -1 is out of range: expected ≥ 0"
    );
    assert_eq!(
        TwoTank::default().generate(0, 1).expect_err("empty").to_string(),
        "experiment 'two-tank' has no samples"
    );
}
