//! A bill of materials: CycloneDX 1.5 as JSON, <https://cyclonedx.org/docs/1.5/json/>.

use anyhow::Context;
use serde_json::{Value, json};

use super::packages::Package;

/// Everything inside, with licences, checksums and who depends on whom.
pub(super) fn cyclone_dx(packages: &[Package], version: &str) -> anyhow::Result<String> {
    let find = |id: &str| packages.iter().find(|package| package.id == id);
    let components: Vec<Value> = packages.iter().map(component).collect();
    let dependencies: Vec<Value> = packages
        .iter()
        .map(|package| {
            let on = package.dependencies.iter().filter_map(|id| find(id)).map(reference);
            let mut on: Vec<String> = on.collect();
            on.sort();
            on.dedup();
            json!({ "ref": reference(package), "dependsOn": on })
        })
        .collect();
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": { "type": "application", "name": "intervalid", "version": version, "bom-ref": "intervalid" },
            "tools": { "components": [{ "type": "application", "name": "cargo xtask dist", "version": version }] },
        },
        "components": components,
        "dependencies": dependencies,
    });
    serde_json::to_string_pretty(&bill).context("the bill of materials has no JSON form")
}

/// The package URL, which also identifies a component within the bill.
fn reference(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version)
}

fn component(package: &Package) -> Value {
    let mut component = json!({
        "type": "library",
        "name": package.name,
        "version": package.version,
        "bom-ref": reference(package),
        "purl": reference(package),
        "scope": "required",
    });
    if let Some(licence) = &package.licence {
        // The old spelling of OR is no SPDX.
        component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
    }
    if let Some(checksum) = &package.checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    if let Some(description) = &package.description {
        component["description"] = json!(description.trim());
    }
    if let Some(repository) = &package.repository {
        component["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
    }
    component
}

#[cfg(test)]
mod tests {
    use super::super::packages::shipped;
    use super::*;

    #[test]
    fn every_component_has_a_licence_and_a_place_in_the_graph() {
        let packages = shipped().unwrap();
        let bill: Value = serde_json::from_str(&cyclone_dx(&packages, "1.2.3").unwrap()).unwrap();
        assert_eq!(bill["metadata"]["component"]["version"], "1.2.3");
        let components = bill["components"].as_array().unwrap();
        assert_eq!(components.len(), packages.len());
        let references: Vec<&str> = components.iter().map(|c| c["bom-ref"].as_str().unwrap()).collect();
        for component in components {
            assert!(
                component["licenses"][0]["expression"]
                    .as_str()
                    .is_some_and(|text| !text.contains('/')),
                "{component}"
            );
        }
        for entry in bill["dependencies"].as_array().unwrap() {
            for on in entry["dependsOn"].as_array().unwrap() {
                assert!(references.contains(&on.as_str().unwrap()), "{on}");
            }
        }
    }
}
