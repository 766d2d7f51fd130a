//! Same seed, same bits: whatever the number of threads, and across a kill.

use std::fs::File;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use intervalid_interval::kernel::{SimdLevel, with_level};
use intervalid_model::{Control, FitConfig, FitOptions, Model, ModelKind, Observer, Progress, Strategy};

use crate::training::{hair_dryer, small};

fn bits(model: &Model) -> Vec<u64> {
    let networks = model.network_parameters().into_iter();
    networks
        .flat_map(|network| [network.theta, network.margin_lower, network.margin_upper])
        .flatten()
        .map(f64::to_bits)
        .collect()
}

/// Epochs done, and epochs in all.
fn epochs(progress: &Progress) -> (usize, usize) {
    match progress {
        Progress::Epoch(epoch) => (epoch.epochs_done, epoch.epochs_total),
        other => panic!("training has epochs, not {other:?}"),
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
        let config = small(network, strategy).with(|config| {
            config.training.averaging = 0.9;
            config.training.weight_noise = 0.02;
            config.training.weight_decay = 0.1;
            config.interval.margin_epochs = Some(2);
        });
        let (whole, info) = Model::fit(&dataset, &split, &config, FitOptions::default()).unwrap();
        for stop_after in [1, 2, 3, 4] {
            let path = folder.path().join(format!("{index}-{stop_after}.checkpoint"));
            let observer = |progress: &Progress| {
                if epochs(progress).0 == stop_after {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            let options = FitOptions {
                control: Control {
                    observer: Some(&observer),
                    ..Control::default()
                },
                checkpoint: Some(&path),
                ..FitOptions::default()
            };
            Model::fit(&dataset, &split, &config, options).unwrap();
            let options = FitOptions {
                checkpoint: Some(&path),
                ..FitOptions::default()
            };
            let (resumed, resumed_info) = Model::fit(&dataset, &split, &config, options).unwrap();
            assert_eq!(
                bits(&whole),
                bits(&resumed),
                "{network:?} {strategy:?} stopped after {stop_after}"
            );
            assert_eq!(info.history, resumed_info.history);
        }
    }
}

/// Mini-batches of three parts, the last of them not full.
#[test]
fn any_number_of_threads_trains_the_same_bits() {
    let (dataset, split) = hair_dryer();
    for (model, strategy) in [
        (ModelKind::Inode, Strategy::Joint),
        (ModelKind::Inode, Strategy::Cascade),
        (ModelKind::Ilstm, Strategy::Joint),
        (ModelKind::Iss, Strategy::Joint),
        (ModelKind::Bnode, Strategy::Joint),
        (ModelKind::DropoutLstm, Strategy::Joint),
        (ModelKind::EnsembleNode, Strategy::Joint),
    ] {
        let config = small(model, strategy).with(|config| config.training.batch = 70);
        let fit = |threads| {
            let options = FitOptions {
                threads,
                ..FitOptions::default()
            };
            Model::fit(&dataset, &split, &config, options).unwrap()
        };
        let (alone, info) = fit(1);
        for threads in [2, 3, 8] {
            let (together, info_together) = fit(threads);
            assert_eq!(
                bits(&alone),
                bits(&together),
                "{model:?} {strategy:?} on {threads} threads"
            );
            assert_eq!(info.history, info_together.history);
        }
    }
}

#[test]
fn a_finished_fit_is_not_trained_further() {
    let (dataset, split) = hair_dryer();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("finished.checkpoint");
    let config = small(ModelKind::Inode, Strategy::Joint).with(|config| {
        config.training.patience = Some(1);
        config.training.epochs = 60;
        config.training.learning_rate = 0.05;
    });
    let run = || {
        Model::fit(
            &dataset,
            &split,
            &config,
            FitOptions {
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

/// Members of an ensemble that train faster than the time between checkpoints are not trained again.
#[test]
fn the_end_of_a_stage_is_saved_whatever_the_clock_says() {
    let (dataset, split) = hair_dryer();
    let folder = tempfile::tempdir().unwrap();
    let (path, kept) = (folder.path().join("fit.checkpoint"), folder.path().join("kept"));
    let config = small(ModelKind::EnsembleNode, Strategy::Joint).with(|config| {
        config.training.epochs = 3;
        config.gaussian.members = 3;
    });
    let observer = |progress: &Progress| {
        // In the middle of the third member.
        if epochs(progress).0 == 8 {
            std::fs::copy(&path, &kept).unwrap();
        }
        ControlFlow::Continue(())
    };
    let fit = |path: &Path, observer: &Observer<'_>| {
        let options = FitOptions {
            control: Control {
                observer: Some(observer),
                ..Control::default()
            },
            checkpoint: Some(path),
            checkpoint_every: std::time::Duration::from_secs(3600),
            ..FitOptions::default()
        };
        Model::fit(&dataset, &split, &config, options).unwrap().0
    };
    let whole = fit(&path, &observer);
    let trained = AtomicUsize::new(0);
    let count = |_: &Progress| {
        trained.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let resumed = fit(&kept, &count);
    assert_eq!(trained.load(Ordering::Relaxed), 3, "epochs of the third member only");
    assert_eq!(bits(&whole), bits(&resumed));
}

#[test]
fn an_unwritable_checkpoint_is_found_out_before_training() {
    let (dataset, split) = hair_dryer();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "not a folder").unwrap();
    let path = file.join("fit.checkpoint");
    let seen = AtomicUsize::new(0);
    let observer = |_: &Progress| {
        seen.fetch_add(1, Ordering::SeqCst);
        ControlFlow::Continue(())
    };
    let config = small(ModelKind::Inode, Strategy::Joint);
    let options = FitOptions {
        control: Control {
            observer: Some(&observer),
            ..Control::default()
        },
        checkpoint: Some(&path),
        ..FitOptions::default()
    };
    let error = Model::fit(&dataset, &split, &config, options).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot write") && error.contains("fit.checkpoint"),
        "{error}"
    );
    assert_eq!(seen.load(Ordering::SeqCst), 0);
}

#[test]
fn a_checkpoint_of_another_fit_or_a_damaged_one_is_refused() {
    let (dataset, split) = hair_dryer();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.checkpoint");
    let config = small(ModelKind::Inode, Strategy::Joint);
    let run = |config: &FitConfig| {
        Model::fit(
            &dataset,
            &split,
            config,
            FitOptions {
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

/// Another instruction set rounds otherwise: training that went on there would end with a model that none of them gives.
#[test]
fn a_checkpoint_of_another_instruction_set_is_refused() {
    let (dataset, split) = hair_dryer();
    let folder = tempfile::tempdir().unwrap();
    let config = small(ModelKind::Inode, Strategy::Joint);
    let levels = SimdLevel::available();
    for made_at in levels {
        let path = folder.path().join(format!("{made_at}.checkpoint"));
        let run = |level| {
            let options = FitOptions {
                checkpoint: Some(&path),
                ..FitOptions::default()
            };
            with_level(level, || Model::fit(&dataset, &split, &config, options).map(|_| ()))
        };
        run(*made_at).unwrap();
        for level in levels {
            let kept = std::fs::read(&path).unwrap();
            let resumed = run(*level);
            assert_eq!(resumed.is_ok(), level == made_at, "{made_at}, then {level}");
            if let Err(error) = resumed {
                assert!(error.to_string().contains("is not a valid checkpoint"), "{error}");
                assert_eq!(std::fs::read(&path).unwrap(), kept, "and left as it is");
            }
        }
    }
}

/// The child of the next test: this very test binary, told to train with a checkpoint until it is killed. Beside the
/// checkpoint it writes a byte for every epoch.
const CHILD: &str = "INTERVALID_TEST_TRAIN_UNTIL_KILLED";

fn long_config() -> FitConfig {
    small(ModelKind::Ilstm, Strategy::Cascade).with(|config| config.training.epochs = 40)
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
    let log = Mutex::new(File::create(beside(path)).unwrap());
    let observer = |progress: &Progress| {
        log.lock().unwrap().write_all(b".").unwrap();
        let (done, total) = epochs(progress);
        if done + 1 == total {
            // The parent is slow today. It is to find work that is not finished.
            std::thread::sleep(PATIENCE);
            panic!("nobody killed this process");
        }
        ControlFlow::Continue(())
    };
    let options = FitOptions {
        control: Control {
            observer: Some(&observer),
            ..Control::default()
        },
        checkpoint: Some(path),
        ..FitOptions::default()
    };
    Model::fit(&dataset, &split, &long_config(), options).unwrap();
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
        let written = || std::fs::metadata(beside(&path)).map_or(0, |file| file.len());
        let deadline = Instant::now() + PATIENCE;
        while written() < EPOCHS as u64 && Instant::now() < deadline {
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
            written() >= EPOCHS as u64,
            "kill {kill}: the child had not begun to train"
        );
    }
    let first = Mutex::new(None);
    let observer = |progress: &Progress| {
        first.lock().unwrap().get_or_insert(epochs(progress));
        ControlFlow::Continue(())
    };
    let options = FitOptions {
        control: Control {
            observer: Some(&observer),
            ..Control::default()
        },
        checkpoint: Some(&path),
        ..FitOptions::default()
    };
    let (resumed, info) = Model::fit(&dataset, &split, &long_config(), options).unwrap();
    let (done, total) = first
        .into_inner()
        .unwrap()
        .expect("the killed children left something to do");
    assert!(
        done > KILLS * EPOCHS && done <= total,
        "resumed at epoch {done} of {total}: each child had written {EPOCHS} epochs or more"
    );
    let (whole, whole_info) = Model::fit(&dataset, &split, &long_config(), FitOptions::default()).unwrap();
    assert_eq!(bits(&whole), bits(&resumed));
    assert_eq!(whole_info.history, info.history);
}
