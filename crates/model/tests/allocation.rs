//! The free run allocates per record, not per step.

use intervalid_data::{Channel, Dataset, Experiment, Part, Split, SplitFractions};
use intervalid_model::{FitConfig, FitOptions, History, Model, ModelKind, Simulator, Strategy};
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
fn steps_of_a_simulator_allocate_nothing() {
    let training = record(400);
    let split = Split::new(&training, SplitFractions::default()).unwrap();
    for model in [ModelKind::Inode, ModelKind::Ilstm, ModelKind::Arx] {
        let config = FitConfig::default().with(|config| {
            config.network.hidden = vec![6, 4];
            config.training.epochs = 1;
            config.model = model;
        });
        let (fitted, _) = Model::fit(&training, &split, &config, FitOptions::default()).unwrap();
        let mut simulator = Simulator::new(&fitted).unwrap();
        let mut run = || {
            simulator
                .reset(History {
                    inputs: &[0.1; 20],
                    outputs: &[0.1; 20],
                })
                .unwrap();
            for k in 0..1000 {
                simulator.step(&[(0.1 * f64::from(k)).sin()]).unwrap();
                simulator.observe(&[0.3]).unwrap();
            }
        };
        // Other tests share the process: the fewest of several tries is this thread's own.
        let fewest = (0..20).map(|_| ALLOCATOR.measure(&mut run).1.allocations).min();
        assert_eq!(fewest, Some(0), "{model}");
    }
}

#[test]
fn a_longer_run_takes_no_more_allocations() {
    let training = record(400);
    let split = Split::new(&training, SplitFractions::default()).unwrap();
    for network in [ModelKind::Inode, ModelKind::Ilstm] {
        let config = FitConfig::default().with(|config| {
            config.network.hidden = vec![6, 4];
            config.training.epochs = 1;
            config.model = network;
            config.interval.strategy = Strategy::Joint;
        });
        let (model, _) = Model::fit(&training, &split, &config, FitOptions::default()).unwrap();
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
