//! What training takes of memory, estimated before it starts: a size that cannot work is refused with its name, where the operating
//! system would end the process without a word.

use intervalid_data::Lags;
use intervalid_interval::Real;

use crate::config::CheckedConfig;
use crate::error::{ModelError, Result};
use crate::kind::Method;
use crate::network::{Architecture, NetworkKind};

/// Copies of every parameter that training keeps at least: value, gradient, two moments, best epoch.
const COPIES: u128 = 5;
/// Numbers per unit of a layer and predicted sample of a mini-batch: at least value and gradient.
const PER_UNIT: u128 = 2;
/// Where the operating system does not say how much memory there is.
const ASSUMED: u128 = 64 << 30;

/// Refuses a network whose training needs more memory than there is. The estimate is a lower bound, so that nothing is refused
/// that could work.
pub(crate) fn check_training<T: Real>(
    config: &CheckedConfig,
    architecture: &Architecture,
    windows: usize,
) -> Result<()> {
    within(available(), || needs::<T>(config, architecture, windows))
}

/// Refuses lags whose least-squares problem needs more memory than there is: the square of the regressor's length, twice.
pub(crate) fn check_linear(lags: Lags, inputs: usize, outputs: usize) -> Result<()> {
    within(available(), || {
        let columns = lags.regressor_len(inputs, outputs) as u128 + 1 + outputs as u128;
        Needs {
            bytes: 2 * columns * columns * 8,
            option: "lags",
            found: lags.to_string(),
        }
    })
}

/// An estimate, and the option that it depends on most.
struct Needs {
    bytes: u128,
    option: &'static str,
    found: String,
}

fn within(available: u128, needs: impl FnOnce() -> Needs) -> Result<()> {
    let Needs { bytes, option, found } = needs();
    if bytes <= available {
        return Ok(());
    }
    let gigabytes = |bytes: u128| bytes as f64 / 1e9;
    let expected = format!(
        "less: this needs at least {:.1} GB of memory, {:.1} GB are free",
        gigabytes(bytes),
        gigabytes(available)
    );
    Err(ModelError::option(option, found, expected))
}

fn needs<T: Real>(config: &CheckedConfig, architecture: &Architecture, windows: usize) -> Needs {
    let size = size_of::<T>() as u128;
    let regressor = architecture.regressor_len() as u128;
    let lstm = architecture.kind == NetworkKind::Lstm;
    let maps = architecture.kind == NetworkKind::StateSpace;
    let states = architecture.states as u128;
    let (mut parameters, mut units, mut inner) = (0, 0, regressor);
    if maps {
        // The linear path from states to states; what stands beside it sees states and inputs.
        (parameters, units, inner) = (states * states, states, states);
    }
    for &width in &architecture.hidden {
        let width = width as u128;
        let out = if lstm { 4 * width } else { width };
        parameters += out * (inner + 1 + if lstm { width } else { 0 });
        units += out;
        if !maps {
            inner = width;
        }
    }
    parameters += architecture.readout_len() as u128 * (inner + 1);
    let sets = match config.model.method() {
        Method::Interval => 3 * COPIES,
        Method::Bayesian => 2 * COPIES,
        Method::Ensemble => COPIES + config.gaussian.members as u128,
        Method::Dropout | Method::Linear => COPIES,
    };
    let batch = config.training.batch.min(windows) as u128;
    let steps = config.training.window.length as u128;
    let copies = parameters * sets * size;
    let activations = batch * steps * (units + regressor) * PER_UNIT * size;
    let hidden = || {
        let widths: Vec<String> = architecture.hidden.iter().map(ToString::to_string).collect();
        widths.join(",")
    };
    let (option, found) = if regressor > units {
        ("lags", config.lags.to_string())
    } else if 2 * states > units {
        ("states", states.to_string())
    } else if copies >= activations {
        ("hidden", hidden())
    } else {
        ("batch", config.training.batch.to_string())
    };
    Needs {
        bytes: copies + activations,
        option,
        found,
    }
}

/// Bytes that a process can still have: what the machine has free, and what the limit of its group leaves.
fn available() -> u128 {
    let number = |text: &str| text.trim().parse::<u128>().ok();
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        Some(number(line.strip_suffix("kB")?)? * 1024)
    });
    // A limit that is `max` is none.
    let group = read("/sys/fs/cgroup/memory.max").and_then(|text| number(&text));
    // What the group has used, without caches, which make room.
    let used = read("/sys/fs/cgroup/memory.stat").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("anon "))?;
        number(line)
    });
    let left = group.map(|group| group.saturating_sub(used.unwrap_or(0)));
    [machine, left].into_iter().flatten().min().unwrap_or(ASSUMED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::FitConfig;
    use crate::kind::ModelKind;

    fn of(change: impl FnOnce(&mut FitConfig)) -> Needs {
        let config = FitConfig::default().with(change).checked().unwrap();
        let architecture = Architecture::of(&config, 1, 1).unwrap();
        needs::<f32>(&config, &architecture, 100_000)
    }

    #[test]
    fn the_option_that_decides_is_named() {
        let usual = of(|_| {});
        assert!(
            usual.bytes < 10_000_000,
            "{} bytes for the default network",
            usual.bytes
        );
        let wide = of(|config| config.network.hidden = vec![1_000_000, 1_000_000]);
        assert_eq!((wide.option, wide.found.as_str()), ("hidden", "1000000,1000000"));
        assert!(wide.bytes > 1 << 45);
        let deep = of(|config| config.lags = Lags::new(0, 0, 1_000_000).unwrap());
        assert_eq!((deep.option, deep.found.as_str()), ("lags", "0,0,1000000"));
        let large = of(|config| config.training.batch = 90_000);
        assert_eq!((large.option, large.found.as_str()), ("batch", "90000"));
        let many = of(|config| {
            config.model = ModelKind::Iss;
            config.lags = Lags::new(1, 0, 1).unwrap();
            config.network.states = Some(1_000_000);
        });
        assert_eq!((many.option, many.found.as_str()), ("states", "1000000"));
        let cells = of(|config| config.model = ModelKind::Ilstm);
        assert!(cells.bytes > usual.bytes);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_both_numbers() {
        let needs = || Needs {
            bytes: 3_000_000_000,
            option: "hidden",
            found: "9".to_owned(),
        };
        assert!(within(3_000_000_000, needs).is_ok());
        let message = within(2_000_000_000, needs).unwrap_err().to_string();
        assert_eq!(
            message,
            "hidden = 9 is not allowed: expected less: this needs at least 3.0 GB of memory, 2.0 GB are free"
        );
        assert!(check_linear(Lags::new(2, 0, 3).unwrap(), 1, 1).is_ok());
        assert!(check_linear(Lags::new(1_000_000, 0, 1_000_000).unwrap(), 1, 1).is_err());
        assert!(available() > 1 << 20);
    }
}
