//! The free run allocates per record, not per step.

use intervalid_data::{Channel, Dataset, Experiment, Part, Split, SplitFractions};
use intervalid_model::{FitConfig, FitOptions, ModelKind, Strategy, fit};
use intervalid_testkit::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

fn record(samples: usize) -> Dataset {
    let u: Vec<f64> = (0..samples)
        .map(|k| (0.07 * k as f64).sin() + (0.031 * k as f64).cos())
        .collect();
    let y: Vec<f64> = (0..samples).map(|k| (0.07 * k as f64 - 0.5).sin()).collect();
    let experiment = Experiment::new("wave", vec![u], vec![y]);
    Dataset::new(
        "wave",
        vec![Channel::new("u")],
        vec![Channel::new("y")],
        None,
        vec![experiment],
    )
    .unwrap()
}

#[test]
fn a_longer_run_takes_no_more_allocations() {
    let training = record(400);
    let split = Split::new(&training, SplitFractions::default()).unwrap();
    for network in [ModelKind::Inode, ModelKind::Ilstm] {
        let config = FitConfig {
            hidden: vec![6, 4],
            epochs: 1,
            model: network,
            strategy: Strategy::Joint,
            ..FitConfig::default()
        };
        let (model, _) = fit::<f32>(&training, &split, &config, FitOptions::default()).unwrap();
        let fewest = |samples: usize| {
            let dataset = record(samples);
            let part = Part::whole(&dataset);
            // Other tests share the process: the fewest of several tries is this thread's own.
            (0..20)
                .map(|_| {
                    ALLOCATOR
                        .measure(|| model.simulate(&dataset, &part).unwrap())
                        .1
                        .allocations
                })
                .min()
        };
        assert_eq!(fewest(500), fewest(5000), "{network:?}");
    }
}
