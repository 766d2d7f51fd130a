//! Same seed, same bits: whatever the number of threads, and across a kill.

use std::fs::File;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use intervalid_model::{
    FitConfig, FitOptions, IntervalModel, Model, ModelKind, Progress, Strategy, calibrate_on_blocks, fit,
};

use crate::training::{hair_dryer, small};

fn bits(model: &IntervalModel<f32>) -> Vec<u32> {
    let (lower, upper) = model.margins();
    model
        .theta()
        .iter()
        .chain(lower)
        .chain(upper)
        .map(|value| value.to_bits())
        .collect()
}

/// Calibration fits five models, as many at once as there are threads. (The search has a test of its own, in `auto`.)
#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (dataset, split) = hair_dryer();
    for (network, strategy) in [
        (ModelKind::Inode, Strategy::Joint),
        (ModelKind::Ilstm, Strategy::Cascade),
    ] {
        let config = small(network, strategy);
        let (model, _) = Model::fit(&dataset, &split, &config, FitOptions::default()).unwrap();
        let run = |threads: usize| {
            calibrate_on_blocks(&dataset, &split, model.clone(), threads, &AtomicBool::new(false)).unwrap()
        };
        let one = run(1);
        assert_ne!(one, model, "{network:?}: calibration changes the band");
        assert_eq!(one, run(2), "{network:?} with 2 threads");
        assert_eq!(one, run(4), "{network:?} with 4 threads");
    }
}

#[test]
fn a_stopped_fit_resumes_to_the_same_bits() {
    let (dataset, split) = hair_dryer();
    let folder = tempfile::tempdir().unwrap();
    for (index, (network, strategy)) in [
        (ModelKind::Inode, Strategy::Cascade),
        (ModelKind::Ilstm, Strategy::Joint),
    ]
    .into_iter()
    .enumerate()
    {
        // With everything that carries state from one iteration to the next.
        let config = FitConfig {
            averaging: 0.9,
            weight_noise: 0.02,
            weight_decay: 0.1,
            margin_epochs: Some(2),
            ..small(network, strategy)
        };
        let (whole, info) = fit::<f32>(&dataset, &split, &config, FitOptions::default()).unwrap();
        for stop_after in [1, 2, 3, 4] {
            let path = folder.path().join(format!("{index}-{stop_after}.checkpoint"));
            let mut observer = |progress: &Progress| {
                if progress.epochs_done == stop_after {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            let options = FitOptions {
                observer: Some(&mut observer),
                checkpoint: Some(&path),
                ..FitOptions::default()
            };
            fit::<f32>(&dataset, &split, &config, options).unwrap();
            let options = FitOptions {
                observer: None,
                checkpoint: Some(&path),
                ..FitOptions::default()
            };
            let (resumed, resumed_info) = fit::<f32>(&dataset, &split, &config, options).unwrap();
            assert_eq!(
                bits(&whole),
                bits(&resumed),
                "{network:?} {strategy:?} stopped after {stop_after}"
            );
            assert_eq!(format!("{:?}", info.history), format!("{:?}", resumed_info.history));
        }
    }
}

#[test]
fn a_finished_fit_is_not_trained_further() {
    let (dataset, split) = hair_dryer();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("finished.checkpoint");
    let config = FitConfig {
        patience: Some(1),
        epochs: 60,
        learning_rate: 0.05,
        ..small(ModelKind::Inode, Strategy::Joint)
    };
    let run = || {
        fit::<f32>(
            &dataset,
            &split,
            &config,
            FitOptions {
                observer: None,
                checkpoint: Some(&path),
                ..FitOptions::default()
            },
        )
        .unwrap()
    };
    let ((first, first_info), (second, second_info)) = (run(), run());
    assert_eq!(bits(&first), bits(&second));
    assert_eq!(first_info.stages[0].stopped, second_info.stages[0].stopped);
}

#[test]
fn an_unwritable_checkpoint_is_found_out_before_training() {
    let (dataset, split) = hair_dryer();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "not a folder").unwrap();
    let path = file.join("fit.checkpoint");
    let mut epochs = 0;
    let mut observer = |_: &Progress| {
        epochs += 1;
        ControlFlow::Continue(())
    };
    let config = small(ModelKind::Inode, Strategy::Joint);
    let options = FitOptions {
        observer: Some(&mut observer),
        checkpoint: Some(&path),
        ..FitOptions::default()
    };
    let error = fit::<f32>(&dataset, &split, &config, options).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot write") && error.contains("fit.checkpoint"),
        "{error}"
    );
    assert_eq!(epochs, 0);
}

#[test]
fn a_checkpoint_of_another_fit_or_a_damaged_one_is_refused() {
    let (dataset, split) = hair_dryer();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.checkpoint");
    let config = small(ModelKind::Inode, Strategy::Joint);
    let run = |config: &FitConfig| {
        fit::<f32>(
            &dataset,
            &split,
            config,
            FitOptions {
                observer: None,
                checkpoint: Some(&path),
                ..FitOptions::default()
            },
        )
    };
    run(&config).unwrap();
    let other = run(&FitConfig {
        seed: 2,
        ..config.clone()
    })
    .unwrap_err()
    .to_string();
    assert!(other.contains("another configuration or other data"), "{other}");
    let bytes = std::fs::read(&path).unwrap();
    for keep in (0..bytes.len()).step_by(bytes.len() / 23 + 1) {
        std::fs::write(&path, &bytes[..keep]).unwrap();
        let error = run(&config).unwrap_err().to_string();
        assert!(error.contains("is not a valid checkpoint"), "{error}");
    }
}

/// The child of the next test: this very test binary, told to train with a checkpoint until it is killed. Beside the
/// checkpoint it writes a byte for every epoch.
const CHILD: &str = "INTERVALID_TEST_TRAIN_UNTIL_KILLED";

fn long_config() -> FitConfig {
    FitConfig {
        epochs: 40,
        ..small(ModelKind::Ilstm, Strategy::Cascade)
    }
}

fn beside(checkpoint: &Path) -> PathBuf {
    checkpoint.with_extension("epochs")
}

#[test]
#[ignore = "no test of its own: `a_killed_process_loses_nothing` runs it in a process that it kills"]
fn child_trains_until_killed() {
    let path = std::env::var_os(CHILD).expect("only `a_killed_process_loses_nothing` runs this");
    let path = Path::new(&path);
    let (dataset, split) = hair_dryer();
    let mut epochs = File::create(beside(path)).unwrap();
    let mut observer = |progress: &Progress| {
        epochs.write_all(b".").unwrap();
        if progress.epochs_done + 1 == progress.epochs_total {
            // The parent is slow today. It is to find work that is not finished.
            std::thread::sleep(PATIENCE);
            panic!("nobody killed this process");
        }
        ControlFlow::Continue(())
    };
    let options = FitOptions {
        observer: Some(&mut observer),
        checkpoint: Some(path),
        ..FitOptions::default()
    };
    fit::<f32>(&dataset, &split, &long_config(), options).unwrap();
}

/// More than any machine needs for an epoch.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn a_killed_process_loses_nothing() {
    const KILLS: usize = 3;
    const EPOCHS: usize = 3;
    let (dataset, split) = hair_dryer();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.checkpoint");
    for kill in 1..=KILLS {
        let _ = std::fs::remove_file(beside(&path));
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "reproducibility::child_trains_until_killed"])
            .env(CHILD, &path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Some epochs, then any moment will do: kill while files are being written.
        let epochs = || std::fs::metadata(beside(&path)).map_or(0, |file| file.len());
        let deadline = Instant::now() + PATIENCE;
        while epochs() < EPOCHS as u64 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        let ended = child.try_wait().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(
            ended.is_none(),
            "kill {kill}: the child ended by itself, with {ended:?}"
        );
        assert!(
            epochs() >= EPOCHS as u64,
            "kill {kill}: the child had not begun to train"
        );
    }
    let mut first = None;
    let mut observer = |progress: &Progress| {
        first.get_or_insert((progress.epochs_done, progress.epochs_total));
        ControlFlow::Continue(())
    };
    let options = FitOptions {
        observer: Some(&mut observer),
        checkpoint: Some(&path),
        ..FitOptions::default()
    };
    let (resumed, info) = fit::<f32>(&dataset, &split, &long_config(), options).unwrap();
    let (done, total) = first.expect("the killed children left something to do");
    assert!(
        done > KILLS * EPOCHS && done <= total,
        "resumed at epoch {done} of {total}: each child had written {EPOCHS} epochs or more"
    );
    let (whole, whole_info) = fit::<f32>(&dataset, &split, &long_config(), FitOptions::default()).unwrap();
    assert_eq!(bits(&whole), bits(&resumed));
    assert_eq!(format!("{:?}", whole_info.history), format!("{:?}", info.history));
}
