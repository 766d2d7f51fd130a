use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use intervalid_data::{Dataset, Part};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::{Value, json};

use super::*;
use crate::family::body::OfPrecision;
use crate::fixtures::{NaiveNetwork, Recipe, recipes};
use crate::network::NetworkKind;

mod widths;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("temporary folder")
}

/// A small model and its file.
fn saved() -> (Model, Vec<u8>) {
    let recipe = Recipe {
        hidden: vec![2, 1],
        ..recipes(0.1).remove(7)
    };
    let model = recipe.model::<f32>().to_model();
    let bytes = model.to_bytes().expect("writes");
    (model, bytes)
}

/// What a reader says to the content of a file.
fn load(bytes: &[u8]) -> Result<Model> {
    Model::from_bytes(bytes.to_vec())
}

fn refusal(bytes: &[u8]) -> String {
    load(bytes).expect_err("refused").to_string()
}

/// Header of a safetensors file and the bytes after it, by the format's own description.
fn take_apart(bytes: &[u8]) -> (Value, &[u8]) {
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    let header = serde_json::from_slice(&bytes[8..8 + length]).expect("JSON");
    (header, &bytes[8 + length..])
}

fn put_together(header: &Value, data: &[u8]) -> Vec<u8> {
    let header = header.to_string();
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

/// The file without its checksum and with changed metadata: what another program might write.
fn with_metadata(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let (mut header, data) = take_apart(bytes);
    let text = header["__metadata__"]["intervalid"].as_str().expect("text");
    let mut metadata: Value = serde_json::from_str(text).expect("JSON");
    metadata.as_object_mut().expect("object").remove("checksum");
    change(&mut metadata);
    header["__metadata__"]["intervalid"] = Value::String(metadata.to_string());
    put_together(&header, data)
}

/// The file without its checksum and with changed tensors.
fn with_tensors(bytes: &[u8], change: impl FnOnce(&mut HashMap<String, (Dtype, Vec<usize>, Vec<u8>)>)) -> Vec<u8> {
    let plain = with_metadata(bytes, |_| ());
    let file = SafeTensors::deserialize(&plain).expect("valid");
    let parts = |view: TensorView<'_>| (view.dtype(), view.shape().to_vec(), view.data().to_vec());
    let mut tensors = file.iter().map(|(name, view)| (name.to_owned(), parts(view))).collect();
    change(&mut tensors);
    let views = tensors.iter().map(|(name, (dtype, shape, data))| {
        let view = TensorView::new(*dtype, shape.clone(), data).expect("sizes fit");
        (name.as_str(), view)
    });
    let (header, _) = take_apart(&plain);
    let text = header["__metadata__"]["intervalid"].as_str().expect("text").to_owned();
    let metadata = HashMap::from([("intervalid".to_owned(), text)]);
    safetensors::serialize(views, Some(metadata)).expect("serialises")
}

fn round_trip<T: OfPrecision>(recipe: &Recipe, path: &Path) -> (Model, Dataset, Part) {
    let model = recipe.model::<T>().to_model();
    model.save(path).expect("saves");
    let again = Model::load(path).expect("loads");
    assert_eq!(again, model);
    let bits = |model: &Model| -> Vec<u64> {
        let networks = model.network_parameters().into_iter();
        networks
            .flat_map(|network| [network.theta, network.margin_lower])
            .flatten()
            .map(f64::to_bits)
            .collect()
    };
    assert_eq!(bits(&again), bits(&model));
    let (dataset, part) = recipe.dataset(50);
    let bands = model.simulate(&dataset, &part).expect("simulates");
    assert_eq!(again.simulate(&dataset, &part).expect("simulates"), bands);
    assert_eq!(again.config().precision.name(), T::NAME);
    let bytes = again.to_bytes().expect("writes");
    assert!(bytes == fs::read(path).expect("reads"), "in memory as in the file");
    assert_eq!(Model::from_bytes(bytes).expect("reads"), again);
    (model, dataset, part)
}

#[test]
fn a_model_comes_back_to_the_bit() {
    let folder = folder();
    let path = folder.path().join("model.safetensors");
    for recipe in recipes(0.1) {
        round_trip::<f32>(&recipe, &path);
        let first = fs::read(&path).expect("reads");
        Model::load(&path).expect("loads").save(&path).expect("saves");
        assert!(
            first == fs::read(&path).expect("reads"),
            "the same model is the same file"
        );
        round_trip::<f64>(&recipe, &path);
    }
    assert_eq!(fs::read_dir(folder.path()).expect("folder").count(), 1);
}

/// Another program: file, docs/method.md, sections 2 and 3, scalar loops.
#[test]
fn the_forward_pass_can_be_rebuilt_from_the_file_alone() {
    let folder = folder();
    let path = folder.path().join("model.safetensors");
    for recipe in recipes(0.1) {
        let (model, dataset, part) = round_trip::<f64>(&recipe, &path);
        let band = &model.simulate(&dataset, &part).expect("simulates")[0];
        let bytes = fs::read(&path).expect("reads");
        let (header, data) = take_apart(&bytes);
        let text = header["__metadata__"]["intervalid"].as_str().expect("text");
        let metadata: Value = serde_json::from_str(text).expect("JSON");
        let tensor = |name: &str| -> (Vec<usize>, Vec<f64>) {
            let entry = &header[name];
            assert_eq!(entry["dtype"], "F64");
            let number = |value: &Value| value.as_u64().expect("integer") as usize;
            let shape = entry["shape"].as_array().expect("shape").iter().map(number).collect();
            let offsets = &entry["data_offsets"];
            let bytes = &data[number(&offsets[0])..number(&offsets[1])];
            let value = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().expect("eight bytes"));
            (shape, bytes.chunks_exact(8).map(value).collect())
        };
        let network = |bounds: bool| {
            let names = header.as_object().expect("object").keys();
            let suffixes = names.filter_map(|name| name.strip_prefix("theta."));
            let tensors = suffixes.map(|suffix| {
                let (shape, theta) = tensor(&format!("theta.{suffix}"));
                let (_, lower) = tensor(&format!("margin_lower.{suffix}"));
                let (_, upper) = tensor(&format!("margin_upper.{suffix}"));
                let share = if bounds { 1.0 } else { 0.0 };
                let pair = |index: usize| (theta[index] - share * lower[index], theta[index] + share * upper[index]);
                (suffix.to_owned(), (shape, (0..theta.len()).map(pair).collect()))
            });
            NaiveNetwork {
                tensors: tensors.collect(),
                kind: match metadata["architecture"].as_str() {
                    Some("ilstm") => NetworkKind::Lstm,
                    Some("iss") => NetworkKind::StateSpace,
                    _ => NetworkKind::Node,
                },
                hidden: metadata["hidden"].as_array().expect("list").len(),
            }
        };
        let (crisp, interval) = (network(false), network(true));
        let lag = |name: &str| metadata["lags"][name].as_u64().expect("integer") as usize;
        let (nx, nd, ny) = (lag("nx"), lag("nd"), lag("ny"));
        let scaled = |kind: &str, channel: usize, value: f64| {
            let scale = &metadata["normaliser"][kind][channel];
            (value - scale["mean"].as_f64().expect("mean")) / scale["std"].as_f64().expect("std")
        };
        let (start, warmup) = match metadata["initial_state"].as_str().expect("text") {
            "zero" => (0, 0),
            "measured" => (ny.max(nd + nx) - 1, 0),
            other => {
                let (_, steps) = other.split_once(':').expect("a warm-up or a history");
                (0, steps.parse::<usize>().expect("number"))
            }
        };
        // The band has no history.
        let hidden_steps = match metadata["initial_state"].as_str().expect("text").starts_with("history") {
            true => warmup,
            false => 0,
        };
        let first_known = if metadata["initial_state"] == "measured" {
            0
        } else {
            start
        };
        let experiment = &dataset.experiments()[0];
        let integer = |value: &Value| value.as_u64().expect("integer") as usize;
        let sizes: Vec<usize> = match metadata.get("states") {
            Some(states) => vec![integer(states), recipe.outputs],
            None => metadata["hidden"]
                .as_array()
                .expect("list")
                .iter()
                .map(integer)
                .collect(),
        };
        let zero = |size: usize| vec![(0.0, 0.0); size];
        let mut states: Vec<_> = sizes.into_iter().map(|size| (zero(size), zero(size))).collect();
        let mut predicted: Vec<f64> = Vec::new();
        for k in start + 1..experiment.len() {
            let mut x = Vec::new();
            for back in 1..=ny {
                for output in 0..recipe.outputs {
                    x.push(match k.checked_sub(back) {
                        Some(at) if (first_known..=start + warmup).contains(&at) => {
                            scaled("outputs", output, experiment.output(output)[at])
                        }
                        Some(at) if at > start => predicted[(at - start - 1) * recipe.outputs + output],
                        _ => 0.0,
                    });
                }
            }
            for tap in 0..=nx {
                for input in 0..recipe.inputs {
                    let sample = k.checked_sub(nd + tap);
                    x.push(sample.map_or(0.0, |at| scaled("inputs", input, experiment.input(input)[at])));
                }
            }
            let x: Vec<_> = x.into_iter().map(|x| (x, x)).collect();
            let bounds = interval.step(&x, &mut states.clone());
            let y = crisp.step(&x, &mut states);
            for output in 0..recipe.outputs {
                let scale = &metadata["normaliser"]["outputs"][output];
                let (mean, std) = (
                    scale["mean"].as_f64().expect("mean"),
                    scale["std"].as_f64().expect("std"),
                );
                let Some(step) = (k - start - 1).checked_sub(hidden_steps) else {
                    continue;
                };
                let physical = |value: f64| value * std + mean;
                assert!((physical(y[output].0) - band.centre[output][step]).abs() < 1e-12);
                assert!((physical(bounds[output].0) - band.lower[output][step]).abs() < 1e-12);
                assert!((physical(bounds[output].1) - band.upper[output][step]).abs() < 1e-12);
            }
            predicted.extend(y.into_iter().map(|y| y.0));
        }
        assert_eq!(predicted.len(), (band.len() + hidden_steps) * recipe.outputs);
    }
}

#[test]
fn every_truncation_is_refused() {
    let (_, bytes) = saved();
    for length in 0..bytes.len() {
        let message = refusal(&bytes[..length]);
        assert!(
            message.starts_with("(bytes in memory) is not a valid model: "),
            "{message}"
        );
    }
    assert!(refusal(&[bytes.as_slice(), &[0]].concat()).contains("bytes of tensors"));
}

#[test]
fn every_flipped_bit_is_noticed_or_harmless() {
    let (model, mut bytes) = saved();
    let mut harmless = 0;
    for index in 0..bytes.len() {
        for bit in 0..8 {
            bytes[index] ^= 1 << bit;
            if let Ok(other) = load(&bytes) {
                harmless += 1;
                assert_eq!(other, model, "byte {index}, bit {bit}");
            }
            bytes[index] ^= 1 << bit;
        }
    }
    // Where a bit carries no content (spelling of the header), the model must be the same.
    assert!(harmless < 100, "{harmless} flips went unnoticed");
}

#[test]
fn random_edits_of_the_metadata_never_panic() {
    let (_, bytes) = saved();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let replacements = [
        json!(null),
        json!(-1),
        json!(0),
        json!(1),
        json!(1e300),
        json!(u64::MAX),
        json!(usize::MAX / 3),
        json!("warmup:18446744073709551615"),
        json!([]),
        json!({}),
        json!([1_000_000_000_000_u64, 7]),
        json!(vec![1; 2000]),
        json!(true),
    ];
    for _ in 0..5000 {
        let edited = with_metadata(&bytes, |metadata| {
            for _ in 0..rng.random_range(1..4) {
                edit(metadata, &replacements, &mut rng);
            }
        });
        if let Ok(model) = load(&edited) {
            let layout = model.architecture().expect("a network").layout();
            assert_eq!(model.network_parameters()[0].theta.len(), layout.len());
        }
    }
}

/// Replaces or removes a random member somewhere inside.
fn edit(value: &mut Value, replacements: &[Value], rng: &mut ChaCha8Rng) {
    let replacement = &replacements[rng.random_range(0..replacements.len())];
    match value {
        Value::Object(map) if !map.is_empty() => {
            let key = map
                .keys()
                .nth(rng.random_range(0..map.len()))
                .cloned()
                .unwrap_or_default();
            match rng.random_range(0..4) {
                0 => drop(map.remove(&key)),
                1 => drop(map.insert(key, replacement.clone())),
                _ => edit(&mut map[&key], replacements, rng),
            }
        }
        Value::Array(list) if !list.is_empty() => {
            let index = rng.random_range(0..list.len());
            match rng.random_range(0..4) {
                0 => drop(list.remove(index)),
                1 => list.push(replacement.clone()),
                _ => edit(&mut list[index], replacements, rng),
            }
        }
        other => *other = replacement.clone(),
    }
}

#[test]
fn random_bytes_never_panic() {
    let (_, bytes) = saved();
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for _ in 0..20_000 {
        let mut damaged = bytes.clone();
        for _ in 0..rng.random_range(1..6) {
            let index = rng.random_range(0..damaged.len());
            damaged[index] = rng.random_range(0..=u8::MAX);
        }
        let _ = load(&damaged);
    }
}

#[test]
fn metadata_that_do_not_fit_are_named() {
    let (_, bytes) = saved();
    assert!(load(&with_metadata(&bytes, |_| ())).is_ok(), "a checksum is optional");
    let cases: [(&str, Value, &str); 20] = [
        ("/format", json!(2), "it has format 2, this version reads format 1"),
        ("/format", json!(0), "it has format 0, expected 1"),
        ("/format", json!("1"), "do not describe a model"),
        (
            "/architecture",
            json!("inode"),
            "architecture is not the one in its config",
        ),
        ("/architecture", json!("gru"), "unknown variant `gru`"),
        ("/lags/ny", json!(0), "lags"),
        ("/lags/nx", json!(2), "lags is not the one in its config"),
        (
            "/hidden",
            json!([]),
            "hidden is [], expected one or more positive widths",
        ),
        (
            "/hidden",
            json!([0, 2]),
            "hidden is [0, 2], expected one or more positive widths",
        ),
        ("/hidden/0", json!(3), "hidden is not the one in its config"),
        ("/linear_path", json!(false), "linear_path is not the one in its config"),
        (
            "/initial_state",
            json!("zero"),
            "initial_state is not the one in its config",
        ),
        ("/initial_state", json!("later"), "later"),
        ("/coverage", json!(0.95), "coverage is not the one in its config"),
        ("/config/coverage", json!(90), "coverage = 90 is not allowed"),
        ("/sample_time", json!(-1.0), "sample_time is -1"),
        (
            "/normaliser/outputs/0/std",
            json!(0.0),
            "normaliser of output 'y0' has mean",
        ),
        (
            "/normaliser/inputs",
            json!([]),
            "its normaliser has 0 input(s), its channels are 1",
        ),
        ("/channels/outputs/0/name", json!("u0"), "channel 'u0' occurs twice"),
        ("/channels/outputs/0", json!({"nome": "y"}), "missing field `name`"),
    ];
    for (pointer, value, expected) in cases {
        let edited = with_metadata(&bytes, |metadata| {
            *metadata.pointer_mut(pointer).expect("field") = value.clone();
        });
        let message = refusal(&edited);
        assert!(message.contains(expected), "{pointer} = {value}: {message}");
    }
    let unknown = with_metadata(&bytes, |metadata| metadata["extra"] = json!(1));
    assert!(refusal(&unknown).contains("unknown field `extra`"));
}

#[test]
fn a_region_has_the_lags_of_its_model() {
    let recipe = recipes(0.1).remove(7);
    let (dataset, part) = recipe.dataset(400);
    let model = recipe.model::<f64>().to_model();
    let model = model.with_region(&dataset, &part).expect("enough samples");
    assert!(model.interface().region.is_some());
    let bytes = model.to_bytes().expect("writes");
    assert!(load(&with_metadata(&bytes, |_| ())).is_ok());
    for (lag, value) in [
        ("nd", json!(usize::MAX)),
        ("nd", json!(7)),
        ("nx", json!(9)),
        ("ny", json!(9)),
    ] {
        let edited = with_metadata(&bytes, |metadata| metadata["region"]["lags"][lag] = value.clone());
        let message = refusal(&edited);
        assert!(message.contains("its region has lags"), "{lag} = {value}: {message}");
    }
}

#[test]
fn absurd_sizes_are_refused_before_anything_is_built() {
    let (_, bytes) = saved();
    for hidden in [
        json!([usize::MAX, 1]),
        json!([1_u64 << 62, 1_u64 << 40]),
        json!([3_000_000_000_u64, 1]),
        json!([1_000_001, 1]),
    ] {
        let edited = with_metadata(&bytes, |metadata| {
            metadata["hidden"] = hidden.clone();
            metadata["config"]["hidden"] = hidden.clone();
        });
        let message = refusal(&edited);
        assert!(
            message.contains("expected widths of at most 1000000"),
            "{hidden}: {message}"
        );
    }
    // Offsets whose sum wraps around to the length of the file.
    let (mut header, _) = take_apart(&bytes);
    let big = 1_u64 << 60;
    for index in 0..16_u64 {
        let (start, end) = (index * big, (index + 1).saturating_mul(big));
        header[format!("t{index}")] = json!({"dtype": "U8", "shape": [end - start], "data_offsets": [start, end]});
    }
    header
        .as_object_mut()
        .expect("object")
        .retain(|name, _| !name.contains('.'));
    assert!(refusal(&put_together(&header, &[])).contains("its header describes 18446744073709551615"));
}

#[test]
fn tensors_that_do_not_fit_are_named() {
    let (_, bytes) = saved();
    let name = "margin_upper.0.bias";
    let first = |value: f32| move |data: &mut Vec<u8>| data[..4].copy_from_slice(&value.to_le_bytes());
    let value = |name: &'static str, value: f32| {
        with_tensors(&bytes, |tensors| {
            first(value)(&mut tensors.get_mut(name).expect("tensor").2)
        })
    };
    assert!(
        refusal(&value(name, -1.0))
            .contains("`margin_upper.0.bias` at position 0 is -1, expected a number from zero to")
    );
    assert!(refusal(&value(name, f32::NAN)).contains("`margin_upper.0.bias` holds NaN at position 0"));
    assert!(refusal(&value("theta.1.weight", f32::INFINITY)).contains("`theta.1.weight` holds inf"));
    // Numbers that would give bands from -inf to inf.
    assert!(refusal(&value(name, f32::MAX)).contains("expected a number from zero to 1e12"));
    assert!(refusal(&value("theta.0.bias", -2e12)).contains("expected a number from -1e12 to 1e12"));
    let renamed = with_tensors(&bytes, |tensors| {
        let tensor = tensors.remove(name).expect("tensor");
        tensors.insert("margin_upper.9.bias".to_owned(), tensor);
    });
    assert!(refusal(&renamed).contains("`margin_upper.9.bias` that this model does not have"));
    let missing = with_tensors(&bytes, |tensors| drop(tensors.remove(name)));
    assert!(refusal(&missing).contains("bytes of tensors, its metadata call for"));
    let empty = with_tensors(&bytes, |tensors| {
        tensors.insert("note".to_owned(), (Dtype::F32, vec![0], Vec::new()));
    });
    assert!(refusal(&empty).contains("`note` that this model does not have"));
    let turned = with_tensors(&bytes, |tensors| {
        tensors.get_mut("theta.0.weight").expect("tensor").1.reverse()
    });
    assert!(refusal(&turned).contains("`theta.0.weight` has shape"));
    let integers = with_tensors(&bytes, |tensors| tensors.get_mut(name).expect("tensor").0 = Dtype::I32);
    assert!(refusal(&integers).contains("`margin_upper.0.bias` is I32, expected f32"));
}

#[test]
fn files_of_other_kinds_are_refused_by_name() {
    let folder = folder();
    let write = |name: &str, content: &[u8]| -> PathBuf {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("writes");
        path
    };
    let cases = [
        (
            write("data.csv", b"u,y\n1.0,2.0\n3.0,4.0\n"),
            "expected a safetensors file",
        ),
        (write("empty", b""), "it has only 0 bytes"),
        (
            write("object", &put_together(&json!({}), &[])),
            "it has no metadata `intervalid`",
        ),
        (
            write("list", &put_together(&json!([1]), &[])),
            "its header is not a table of tensors",
        ),
        (folder.path().to_owned(), "it is a folder, expected a safetensors file"),
        (folder.path().join("absent"), "cannot read"),
    ];
    for (path, expected) in cases {
        let message = Model::load(&path).expect_err("refused").to_string();
        assert!(
            message.contains(expected) && message.contains(&*path.to_string_lossy()),
            "{message}"
        );
    }
}

/// Another JSON library may order fields otherwise, put in spaces and write numbers in other ways.
#[test]
fn the_checksum_survives_another_json_library_and_still_sees_damage() {
    let (model, bytes) = saved();
    let rewritten = |change: &dyn Fn(String) -> String| {
        let (mut header, data) = take_apart(&bytes);
        let text = header["__metadata__"]["intervalid"].as_str().expect("text");
        let metadata: Value = serde_json::from_str(text).expect("JSON");
        assert!(metadata["checksum"].is_string());
        let mut fields: Vec<String> = metadata
            .as_object()
            .expect("object")
            .iter()
            .map(|(name, value)| format!("\"{name}\" :\t{value}"))
            .collect();
        fields.reverse();
        let text = change(format!("{{\n  {}\n}}", fields.join(",\n  ")));
        header["__metadata__"]["intervalid"] = Value::String(text);
        put_together(&header, data)
    };
    let other = rewritten(&|text| text.replace("\"coverage\" :\t0.9,", "\"coverage\" :\t9.0e-1,"));
    assert_eq!(load(&other).expect("the same content"), model);
    let changed = rewritten(&|text| text.replace("\"coverage\" :\t0.9,", "\"coverage\" :\t0.8,"));
    assert!(refusal(&changed).contains("checksum"));
}

#[test]
fn what_no_reader_takes_is_not_written() {
    let folder = folder();
    let path = folder.path().join("model.safetensors");
    let mut model = recipes(0.1).remove(0).model::<f64>();
    model.margin_lower[0] = f64::NAN;
    assert!(
        model
            .to_model()
            .save(&path)
            .expect_err("refused")
            .to_string()
            .contains("`margin_lower.0.weight` at position 0")
    );
    assert!(!path.exists());
}
