//! Leaves the symbols of Python to the interpreter that loads the module; some linkers have to be told.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
